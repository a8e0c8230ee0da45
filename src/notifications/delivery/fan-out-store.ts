import { type Kysely, sql, type Transaction } from 'kysely'
import { assertFence, type Lease } from '../../database/lease.ts'
import { notify } from '../../database/notify.ts'
import type { Schema } from '../../database/schema.ts'
import { lockOrderingKeys, startNext } from './delivery-store.ts'
import type { JobQueue } from './job-queue.ts'

/** The channel that announces a due delivery to every process. The payload is the notification id. */
export const DUE_CHANNEL = 'deliveries_due'

/** The number of events that one database transaction processes. */
const BATCH = 500

interface FanOutDeps {
  readonly db: Kysely<Schema>
  readonly queue: JobQueue
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
}

/**
 * Creates deliveries with their jobs for the next numbered events and moves the cursor, in one database transaction, so that a crash leaves
 * both or neither. Returns `more` when further events wait. The `lease` excludes other processes.
 */
export async function fanOutEvents(
  { db, queue, windowMs }: FanOutDeps,
  lease: Lease,
): Promise<{ more: boolean }> {
  await openQueues(db, queue)
  return db.transaction().execute(async (tx) => {
    await assertFence(tx, lease)
    const { last_number, relayed_number } = await tx
      .selectFrom('event_log')
      .select(['last_number', 'relayed_number'])
      .executeTakeFirstOrThrow()
    if (relayed_number >= last_number) return { more: false }
    const upTo = relayed_number + BigInt(BATCH) < last_number ? relayed_number + BigInt(BATCH) : last_number
    const inserted = await insertDeliveries(tx, { after: relayed_number, upTo, windowMs })
    await announce(tx, queue, inserted)
    await tx.updateTable('event_log').set({ relayed_number: upTo }).execute()
    return { more: upTo < last_number }
  })
}

/** Runs before the database transaction, because pg-boss creates a queue with statements of its own. */
async function openQueues(db: Kysely<Schema>, queue: JobQueue): Promise<void> {
  const rows = await db.selectFrom('notifications').select('id').execute()
  for (const { id } of rows) await queue.open(id)
}

/** The maximum number of unnumbered events that are counted. The exact number above it does not matter. */
const MAX_UNNUMBERED = 10_000

/** Counts the committed events without deliveries yet; undefined when there are no notifications. */
export async function countUnprocessedEvents(db: Kysely<Schema>): Promise<number | undefined> {
  const { rows } = await sql<{ lag: bigint }>`
    select last_number - relayed_number
      + (select count(*) from (select from events where number is null limit ${MAX_UNNUMBERED}) unnumbered) as lag
    from event_log where exists (select from notifications)`.execute(db)
  return rows[0] && Number(rows[0].lag)
}

interface Piece {
  readonly after: bigint
  readonly upTo: bigint
  readonly windowMs: number
}

interface NewDelivery {
  readonly notification_id: string
  readonly orderingKey: string
}

/** Inserts deliveries in the status `waiting`. An event without a transaction has its own ordering key. */
async function insertDeliveries(
  tx: Transaction<Schema>,
  { after, upTo, windowMs }: Piece,
): Promise<NewDelivery[]> {
  const { rows } = await sql<NewDelivery>`
    insert into deliveries (id, notification_id, event_id, event_number, ordering_key, status, give_up_at)
    select gen_random_uuid(), n.id, e.id, e.number, coalesce(e.transaction_id, 'event ' || e.number), 'waiting',
      now() + ${windowMs}::float8 * interval '1 millisecond'
    from events e join notifications n on n.id = e.notification_id
    where e.number > ${after} and e.number <= ${upTo}
    order by e.number
    for key share of n
    on conflict (event_id, notification_id) do nothing
    returning notification_id, ordering_key as "orderingKey"`.execute(tx)
  return rows
}

async function announce(
  tx: Transaction<Schema>,
  queue: JobQueue,
  inserted: readonly NewDelivery[],
): Promise<void> {
  for (const [notificationId, items] of Map.groupBy(inserted, (item) => item.notification_id)) {
    const orderingKeys = [...new Set(items.map(({ orderingKey }) => orderingKey))]
    await lockOrderingKeys(tx, notificationId, orderingKeys)
    const ready = await startNext(tx, notificationId, orderingKeys)
    await queue.add(
      tx,
      notificationId,
      ready.map((id) => ({ id, delayMs: 0 })),
    )
    if (ready.length > 0) await notify(tx, DUE_CHANNEL, notificationId)
  }
}
