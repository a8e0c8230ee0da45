import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { DeliveriesTable } from '../../database/event-tables.ts'
import type { Schema } from '../../database/schema.ts'
import type { EventRecord } from '../../events/event.ts'
import { EVENT_COLUMNS, toEventRecord } from '../../events/store.ts'
import type { Delivery, DeliveryStatus, Exchange } from './delivery.ts'

/** A delivery with its event. */
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

/** Lists the deliveries of a notification, newest event first. */
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

/** Finds a delivery of this notification; undefined for the id of another notification's delivery. */
export async function findDelivery(
  db: Kysely<Schema>,
  notificationId: string,
  id: string,
): Promise<DeliveryOfEvent | undefined> {
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('notification_id', '=', notificationId)
    // The comparison is by text, so that an id that is not a UUID finds nothing instead of failing.
    .where(sql<string>`id::text`, '=', id)
    .execute()
  return (await withEvents(db, rows))[0]
}

/** Finds the ids of a notification's deliveries that have a job. */
export async function pendingIds(tx: Transaction<Schema>, notificationId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('deliveries')
    .select('id')
    .where('notification_id', '=', notificationId)
    .where('status', '=', 'pending')
    .execute()
  return rows.map(({ id }) => id)
}

/** Finds the deliveries among these that are still pending, with their events. */
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

/** The result of a try, ready to be written. `delayMs` is the delay until the next try, in the status `pending`. */
export interface Settlement {
  readonly id: string
  readonly orderingKey: string
  /** The number of tries when this one began. If the stored number differs, another process was faster and nothing is written. */
  readonly tries: number
  readonly status: 'delivered' | 'dead' | 'pending'
  readonly delayMs?: number | undefined
  readonly triedAt: Date
  readonly exchange: Exchange
}

/** Writes the results of tries, and returns the ids of the written deliveries. */
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
 * Locks all open deliveries of these ordering keys until the commit, so that inserts and settlements of a key run one after the other.
 * Otherwise an insert could see a predecessor that a settlement is just finishing, and no process would start the successor.
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

/** Makes the first delivery of each ordering key without a pending one pending, and returns the ids. The caller adds their jobs. */
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

/** Counts the dead letters by notification. Notifications without any are absent. */
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
