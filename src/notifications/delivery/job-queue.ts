import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { Db, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { RunScript } from '../../database/engine.ts'
import type { Schema } from '../../database/schema.ts'

/** Tables of pg-boss, which it makes and migrates itself. */
const SCHEMA = 'pgboss'

/** Longer than any pause lasts, in seconds: a job that is thrown away would be an event that never arrives. */
const KEPT_SECONDS = 10 * 365 * 86_400

/** A job that a dead process had taken is given to another this often, at the latest, in seconds. */
const SUPERVISE_SECONDS = 5

/** Between the longest try and the time when its process counts as dead, in seconds. */
const MARGIN_SECONDS = 10

/** How many processes may die over one job until it is given up: never. */
const MOST_LOST = 1_000_000

/** When a delivery is to be tried. */
export interface Job {
  /** Id of the delivery. */
  readonly id: string
  readonly delayMs: number
}

/**
 * Which deliveries are due: pg-boss, one queue for each notification, so that a receiver is only ever behind itself. A job is
 * there for each delivery that is `pending`; the deliveries table knows everything else.
 */
export interface JobQueue {
  /** Makes the queue of a notification ready; cheap when it is. */
  open(notificationId: string): Promise<void>
  /** Adds jobs, inside a database transaction. Their queue has to be open. */
  add(tx: Transaction<Schema>, notificationId: string, jobs: readonly Job[]): Promise<void>
  /** Takes due jobs for as long as a try may last; after that, unless removed, they are given to somebody else. */
  take(notificationId: string, limit: number): Promise<string[]>
  /** Removes jobs, inside a database transaction, taken or not. */
  remove(tx: Transaction<Schema>, notificationId: string, ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

interface JobQueueOptions {
  readonly runScript: RunScript
  /** The longest that one try lasts, in ms. */
  readonly tryMs: number
  readonly log: Logger
}

/**
 * Starts pg-boss at its first use. Its code is loaded then and not before: a service without notifications does without.
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
  /** Lets `work` run all of its statements inside the transaction. */
  withTimeout<T>(tx: Transaction<Schema>, work: () => Promise<T>): Promise<T>
}

/**
 * Some calls of pg-boss look up the queue outside of the transaction that they are given; on the one connection of the
 * embedded database that would wait for ever for the transaction to end. So the transaction is found by the context of
 * the call, and every statement goes through it.
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
  boss.on('error', (error) => log.warn({ err: error }, 'the delivery queue has a problem; it goes on'))
  await boss.start()
  return { boss, withTimeout: (tx, work) => inside.run(fromKysely(tx), work) }
}

function queueSettings({ tryMs }: JobQueueOptions) {
  return {
    expireInSeconds: Math.ceil(tryMs / 1000) + MARGIN_SECONDS,
    retentionSeconds: KEPT_SECONDS,
    retryLimit: MOST_LOST,
  }
}

function toInsert({ id, delayMs }: Job) {
  return delayMs > 0 ? { id, startAfter: Math.ceil(delayMs / 1000) } : { id }
}

function nameOf(notificationId: string): string {
  return `webhook/${notificationId}`
}
