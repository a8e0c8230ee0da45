import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { DeliveriesTable, Schema } from '../../database/schema.ts'
import type { EventRecord } from '../../events/event.ts'
import { EVENT_COLUMNS, toEventRecord } from '../../events/store.ts'
import type { Delivery, DeliveryStatus, Exchange } from './delivery.ts'

/** A delivery and the event that it brings. */
export interface DeliveryOfEvent {
  readonly delivery: Delivery
  readonly event: EventRecord
}

interface ListQuery {
  readonly notificationId: string
  readonly status?: DeliveryStatus | undefined
  readonly offset: number
  readonly limit: number
}

/** Deliveries of a notification, the newest event first. */
export async function listDeliveries(
  db: Kysely<Schema>,
  { notificationId, status, offset, limit }: ListQuery,
): Promise<{ items: DeliveryOfEvent[]; total: number }> {
  let matching = db.selectFrom('deliveries').where('notification_id', '=', notificationId)
  if (status !== undefined) matching = matching.where('status', '=', status)
  const [rows, { total }] = await Promise.all([
    matching.selectAll().orderBy('event_number', 'desc').offset(offset).limit(limit).execute(),
    matching.select((eb) => eb.fn.countAll<bigint>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { items: await withEvents(db, rows), total: Number(total) }
}

/** One delivery of this notification; those of another do not exist here. */
export async function findDelivery(
  db: Kysely<Schema>,
  notificationId: string,
  id: string,
): Promise<DeliveryOfEvent | undefined> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('notification_id', '=', notificationId)
    // As text: an id that is no UUID is the id of nothing.
    .where(sql<string>`id::text`, '=', id)
    .execute()
  return (await withEvents(db, rows))[0]
}

/** All of a notification that have a job, by id. */
export async function pendingIds(tx: Transaction<Schema>, notificationId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('deliveries')
    .select('id')
    .where('notification_id', '=', notificationId)
    .where('status', '=', 'pending')
    .execute()
  return rows.map(({ id }) => id)
}

/** Those among these that are still to be delivered. */
export async function findPending(db: Kysely<Schema>, ids: readonly string[]): Promise<DeliveryOfEvent[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('id', 'in', ids)
    .where('status', '=', 'pending')
    .execute()
  return withEvents(db, rows)
}

/** What became of a try. `delayMs` belongs to `pending`: how long until the next one. */
export interface Settlement {
  readonly id: string
  readonly orderingKey: string
  /** As it was when the try began: who finds another number was overtaken, and changes nothing. */
  readonly tries: number
  readonly status: 'delivered' | 'dead' | 'pending'
  readonly delayMs?: number | undefined
  readonly triedAt: Date
  readonly exchange: Exchange
}

/** Writes what became of tries. Gives the ids of those that were written. */
export async function saveTries(
  tx: Transaction<Schema>,
  settlements: readonly Settlement[],
): Promise<Set<string>> {
  const records = settlements.map((settlement) => ({
    id: settlement.id,
    tries: settlement.tries,
    status: settlement.status,
    delay_ms: settlement.delayMs,
    tried_at: settlement.triedAt,
    last_try: settlement.exchange,
  }))
  const { rows } = await sql<{ id: string }>`
    update deliveries d set
      status = record.status, tries = d.tries + 1, tried_at = record.tried_at, last_try = record.last_try,
      next_try_at = now() + record.delay_ms * interval '1 millisecond',
      settled_at = case when record.status <> 'pending' then now() end
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (
      id uuid, tries integer, status text, delay_ms float8, tried_at timestamptz, last_try jsonb)
    where d.id = record.id and d.tries = record.tries and d.status = 'pending'
    returning d.id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Holds everything open in these ordering keys until the commit, so that who adds to an ordering key and who settles in it take turns:
 * otherwise the one could see a predecessor that the other is just settling, and nobody would start the successor.
 */
export async function lockOrderingKeys(
  tx: Transaction<Schema>,
  notificationId: string,
  orderingKeys: readonly string[],
): Promise<void> {
  await sql`
    select id from deliveries
    where notification_id = ${notificationId} and ordering_key = any(${[...orderingKeys]}::text[]) and status in ('pending', 'waiting')
    order by id for update`.execute(tx)
}

/** Makes the first of each ordering key pending in which nothing is, and gives the ids. Their jobs are the caller's to add. */
export async function startNext(
  tx: Transaction<Schema>,
  notificationId: string,
  orderingKeys: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update deliveries set status = 'pending' where id in (
      select distinct on (ordering_key) id from deliveries d
      where notification_id = ${notificationId} and ordering_key = any(${[...orderingKeys]}::text[]) and status = 'waiting'
        and not exists (
          select from deliveries p
          where p.notification_id = d.notification_id and p.ordering_key = d.ordering_key and p.status = 'pending')
      order by ordering_key, event_number)
    returning id`.execute(tx)
  return rows.map(({ id }) => id)
}

async function withEvents(
  db: Kysely<Schema>,
  rows: readonly Selectable<DeliveriesTable>[],
): Promise<DeliveryOfEvent[]> {
  if (rows.length === 0) return []
  const events = await db
    .selectFrom('events')
    .select(EVENT_COLUMNS)
    .where(
      'id',
      'in',
      rows.map((row) => row.event_id),
    )
    .execute()
  const byId = new Map(events.map((row) => [row.id, toEventRecord(row)]))
  return rows.flatMap((row) => {
    const event = byId.get(row.event_id)
    return event === undefined ? [] : [{ delivery: toDelivery(row), event }]
  })
}

function toDelivery(row: Selectable<DeliveriesTable>): Delivery {
  return {
    id: row.id,
    notificationId: row.notification_id,
    eventId: row.event_id,
    eventNumber: row.event_number,
    orderingKey: row.ordering_key,
    status: row.status as DeliveryStatus,
    tries: row.tries,
    giveUpAt: row.give_up_at,
    createdAt: row.created_at,
    ...(row.next_try_at && { nextTryAt: row.next_try_at }),
    ...(row.tried_at && { triedAt: row.tried_at }),
    ...(row.settled_at && { settledAt: row.settled_at }),
    ...(row.last_try && { lastTry: row.last_try as Exchange }),
  }
}

/** The dead letters of each notification that has any. */
export async function countDead(db: Kysely<Schema>): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('deliveries')
    .select((eb) => ['notification_id', eb.fn.countAll<bigint>().as('count')])
    .where('status', '=', 'dead')
    .where('notification_id', 'in', (eb) => eb.selectFrom('notifications').select('id'))
    .groupBy('notification_id')
    .execute()
  return new Map(rows.map(({ notification_id, count }) => [notification_id, Number(count)]))
}
