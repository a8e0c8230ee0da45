import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { Db, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { RunScript } from '../../database/engine.ts'
import type { Schema } from '../../database/schema.ts'

/** The schema of pg-boss, which creates and migrates its own tables. */
const SCHEMA = 'pgboss'

/** Retention of jobs in seconds. It is longer than any pause, because a deleted job would be an event that never arrives. */
const RETENTION_SECONDS = 10 * 365 * 86_400

/** Interval in seconds at which the jobs of dead processes are given to others. */
const SUPERVISE_SECONDS = 5

/** Time in seconds after the longest try until its process counts as dead. */
const MARGIN_SECONDS = 10

/** The number of processes that may die with one job before pg-boss drops it: practically never. */
const MAX_JOB_RETRIES = 1_000_000

/** A due time of a delivery. */
export interface Job {
  /** The id of the delivery. */
  readonly id: string
  readonly delayMs: number
}

/**
 * The schedule of deliveries in pg-boss. Each notification has its own queue, so that a slow receiver delays only itself. Each `pending`
 * delivery has a job; the deliveries table stores everything else.
 */
export interface JobQueue {
  /** Creates the queue of a notification if it is missing; cheap when it exists. */
  open(notificationId: string): Promise<void>
  /** Adds jobs inside a database transaction. `open` must have been called for the notification. */
  add(tx: Transaction<Schema>, notificationId: string, jobs: readonly Job[]): Promise<void>
  /** Claims due jobs for the time that a try may last. Jobs that are not removed by then are given to another process. */
  take(notificationId: string, limit: number): Promise<string[]>
  /** Removes jobs inside a database transaction, claimed or not. */
  remove(tx: Transaction<Schema>, notificationId: string, ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

interface JobQueueOptions {
  readonly runScript: RunScript
  /** The longest duration of a try, in ms. */
  readonly tryMs: number
  readonly log: Logger
}

/**
 * Creates the queue. pg-boss is loaded and started at its first use, so that a service without notifications does not load it.
 */
export function createJobQueue(options: JobQueueOptions): JobQueue {
  let started: Promise<Boss> | undefined
  const opened = new Set<string>()
  const get = () => {
    started ??= startBoss(options).catch((error) => {
      started = undefined
      throw error
    })
    return started
  }
  return {
    async open(notificationId) {
      if (opened.has(notificationId)) return
      const { boss } = await get()
      await boss.createQueue(nameOf(notificationId), queueSettings(options))
      opened.add(notificationId)
    },
    async add(tx, notificationId, jobs) {
      if (jobs.length === 0) return
      const { boss, withTimeout } = await get()
      await withTimeout(tx, () => boss.insert(nameOf(notificationId), jobs.map(toInsert)))
    },
    async take(notificationId, limit) {
      const { boss } = await get()
      return (await boss.fetch(nameOf(notificationId), { batchSize: limit })).map((job) => job.id)
    },
    async remove(tx, notificationId, ids) {
      if (ids.length === 0) return
      const { boss, withTimeout } = await get()
      await withTimeout(tx, () => boss.deleteJob(nameOf(notificationId), [...ids]))
    },
    async close() {
      await (await started)?.boss.stop({ graceful: false, close: false })
    },
  }
}

interface Boss {
  readonly boss: PgBoss
  /** Runs all statements of `work` inside the database transaction. */
  withTimeout<T>(tx: Transaction<Schema>, work: () => Promise<T>): Promise<T>
}

/**
 * Some calls of pg-boss read the queue outside the database transaction that they get. On the single connection of the embedded database,
 * that would wait for ever for the transaction to end. So the transaction is found through the async context, and every statement uses it.
 */
async function startBoss({ runScript, log }: JobQueueOptions): Promise<Boss> {
  const { PgBoss, fromKysely } = await import('pg-boss')
  const inside = new AsyncLocalStorage<Db>()
  const db: Db = {
    executeSql: (text, values) => inside.getStore()?.executeSql(text, values) ?? runScript(text, values),
  }
  const boss = new PgBoss({
    db,
    schema: SCHEMA,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'delivery queue error; continuing'))
  await boss.start()
  return { boss, withTimeout: (tx, work) => inside.run(fromKysely(tx), work) }
}

function queueSettings({ tryMs }: JobQueueOptions) {
  return {
    expireInSeconds: Math.ceil(tryMs / 1000) + MARGIN_SECONDS,
    retentionSeconds: RETENTION_SECONDS,
    retryLimit: MAX_JOB_RETRIES,
  }
}

function toInsert({ id, delayMs }: Job) {
  return delayMs > 0 ? { id, startAfter: Math.ceil(delayMs / 1000) } : { id }
}

function nameOf(notificationId: string): string {
  return `webhook/${notificationId}`
}
