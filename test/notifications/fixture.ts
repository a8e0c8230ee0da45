import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { notify } from '../../src/database/sql-helpers.ts'
import type { EventRecord } from '../../src/events/event.ts'
import { createEventNotifier } from '../../src/events/notifier.ts'
import { EVENTS_CHANNEL } from '../../src/events/store.ts'
import { createLogger } from '../../src/log.ts'
import { createDeliveryControls, type DeliveryControls } from '../../src/notifications/delivery/controls.ts'
import type { DeliveryStatus } from '../../src/notifications/delivery/delivery.ts'
import { type DeliveryOfEvent, listDeliveries } from '../../src/notifications/delivery/delivery-store.ts'
import { DUE_CHANNEL } from '../../src/notifications/delivery/redeliver-store.ts'
import { createSigningKeys, type SigningKeys } from '../../src/notifications/keys.ts'
import { saveNotification } from '../../src/notifications/store.ts'
import { createGuardedHttpClient } from '../../src/security/guarded-http-client.ts'
import { createDeliverWorker } from '../../src/workers/deliver-worker.ts'
import { type AdjustableClock, createAdjustableClock } from '../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const log = createLogger({ level: 'silent' })

/** One process that relays and delivers. */
export interface Worker {
  readonly controls: DeliveryControls
  readonly keys: SigningKeys
  stop(): Promise<void>
}

interface WorkerOptions {
  readonly clock?: AdjustableClock
  /** Default 2 s. */
  readonly timeoutMs?: number
  readonly sealer?: Parameters<typeof createSigningKeys>[0]['sealer']
  readonly keys?: Record<string, string>
}

/** Starts the workers of one process on a database. */
export async function startWorker(database: Database, options: WorkerOptions = {}): Promise<Worker> {
  const { clock = createAdjustableClock(), timeoutMs = 2_000, sealer } = options
  const { db } = database
  const owner = randomUUID()
  const windowMs = 24 * HOUR_MS
  const keys = createSigningKeys({ db, sealer, configured: new Map(Object.entries(options.keys ?? {})) })
  await keys.adopt()
  const httpClient = createGuardedHttpClient({ allowPrivate: true })
  const guardedClient = createGuardedHttpClient({ allowPrivate: false })
  const deliver = createDeliverWorker({
    db,
    clock,
    log,
    owner,
    keys,
    httpClient,
    guardedClient,
    bodiesOf,
    timeoutMs,
    windowMs,
    random: Math.random,
    onEvents: createEventNotifier((handler) => database.listen(EVENTS_CHANNEL, handler)).subscribe,
  })
  const subscriptions = [await database.listen(DUE_CHANNEL, deliver.wakeForChange)]
  deliver.start()
  return {
    controls: createDeliveryControls({ db, windowMs }),
    keys,
    stop: async () => {
      await deliver.stop()
      for (const unlisten of subscriptions) await unlisten()
      httpClient.close()
      guardedClient.close()
    },
  }
}

/** Bodies that tell the place in the log; real ones are in test/e2e. */
async function bodiesOf(events: readonly EventRecord[]): Promise<string[]> {
  return events.map(({ uid, type, transactionId, number, createdAt }) =>
    JSON.stringify({
      id: uid,
      event: type,
      payload: { payload_type: 'transaction', id: transactionId, status: String(number) },
      timestamp: createdAt.toISOString(),
    }),
  )
}

/** The notifications room with one worker, on an empty embedded database. */
export interface Fixture extends Worker {
  readonly database: Database
  readonly clock: AdjustableClock
  addNotification(id: string, url: string): Promise<void>
  /** Writes events of a transaction, each in a database transaction of its own. */
  emit(notificationId: string, transactionId: string, count?: number): Promise<void>
  deliveries(notificationId: string): Promise<DeliveryOfEvent[]>
  /** The deliveries of one status, and their number. */
  list(notificationId: string, status: DeliveryStatus): ReturnType<typeof listDeliveries>
  /** Waits until all deliveries are as wanted, newest first. */
  settled(
    notificationId: string,
    wanted: (items: readonly DeliveryOfEvent[]) => boolean,
  ): Promise<DeliveryOfEvent[]>
  /** Lets time pass, for the service and for its deliveries. */
  pass(ms: number): Promise<void>
}

/** One for all tests of a file, as making one takes seconds; each leaves it empty. */
let shared: Promise<Database> | undefined

export async function openFixture(options: WorkerOptions = {}): Promise<Fixture> {
  const clock = options.clock ?? createAdjustableClock()
  shared ??= openTestDatabase()
  const database = await shared
  const worker = await startWorker(database, { ...options, clock })
  onTestFinished(async () => {
    await worker.stop()
    await emptyDatabase(database)
    await sql`select setval('event_numbers', 0, true)`.execute(database.db)
  })
  const deliveries = async (notificationId: string) =>
    (await listDeliveries(database.db, { notificationId, offset: 0, limit: 1000 })).items
  return {
    ...worker,
    database,
    clock,
    deliveries,
    list: (notificationId, status) =>
      listDeliveries(database.db, { notificationId, status, offset: 0, limit: 1000 }),
    addNotification: (id, url) => addNotification(database, id, url),
    emit: (notificationId, transactionId, count = 1) =>
      emit(database, { notificationId, transactionId, count }),
    settled: (notificationId, wanted) => until(() => deliveries(notificationId), wanted),
    pass: async (ms) => {
      // Deliveries are due by the database's clock, which no one can move: their times come nearer instead.
      await sql`update deliveries set next_try_at = next_try_at - ${ms}::float8 * interval '1 millisecond'`.execute(
        database.db,
      )
      clock.advance(ms)
      await notify(database.db, DUE_CHANNEL)
    },
  }
}

export async function addNotification({ db }: Database, id: string, url: string): Promise<void> {
  await db
    .transaction()
    .execute((tx) => saveNotification(tx, { id, type: 'webhook', url, hasSigningKey: false }))
}

interface Emission {
  readonly notificationId: string
  readonly transactionId: string
  readonly count: number
}

async function emit({ db }: Database, { notificationId, transactionId, count }: Emission): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await db
      .insertInto('events')
      .values({
        relayer_id: 'main',
        transaction_id: transactionId,
        notification_id: notificationId,
        type: 'transaction_update',
        payload: '{}',
      })
      .execute()
  }
}
