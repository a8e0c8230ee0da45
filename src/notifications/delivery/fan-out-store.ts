import { type Kysely, sql, type Transaction } from 'kysely'
import { assertFence, type Lease } from '../../database/lease.ts'
import { notify } from '../../database/notify.ts'
import type { Schema } from '../../database/schema.ts'
import { lockOrderingKeys, startNext } from './delivery-store.ts'
import type { JobQueue } from './job-queue.ts'

/** Tells every process that a notification, named by the payload, has something due. */
export const DUE_CHANNEL = 'deliveries_due'

/** Events looked at in one database transaction. */
const BATCH = 500

interface RelayDeps {
  readonly db: Kysely<Schema>
  readonly queue: JobQueue
  /** Time in ms for which a delivery is tried. */
  readonly windowMs: number
}

/**
 * Turns the next numbered events into deliveries with their jobs, and moves the cursor, in one database transaction: a crash
 * leaves both or neither. Tells whether there may be more. The `lease` keeps others from doing
 * the same.
 */
export async function relayEvents(
  { db, queue, windowMs }: RelayDeps,
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

/** Before the transaction: making a queue is pg-boss's own work, with statements of its own. */
async function openQueues(db: Kysely<Schema>, queue: JobQueue): Promise<void> {
  const rows = await db.selectFrom('notifications').select('id').execute()
  for (const { id } of rows) await queue.open(id)
}

/** Events without a number that are counted at most: beyond it, only that there are very many matters. */
const MAX_UNNUMBERED = 10_000

/** How many committed events the relay has not looked at yet; undefined when there is nobody to tell. */
export async function relayLag(db: Kysely<Schema>): Promise<number | undefined> {
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

/** All of them wait at first. An event without a transaction has an ordering key of its own. */
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
