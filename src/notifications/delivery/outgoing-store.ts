import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { EventRecord } from '../../events/event.ts'
import { EVENT_COLUMNS, toEventRecord } from '../../events/store.ts'
import type { Outgoing } from './delivery.ts'

/** The place of a notification in the event log. */
export interface ReceiverStart {
  /** Each event up to this number has a row. */
  readonly cursor: bigint
  /** Later events that also have a row. */
  readonly recorded: ReadonlySet<bigint>
}

/** Reads the places of these notifications, by id. */
export async function readStarts(
  db: Db,
  notificationIds: readonly string[],
): Promise<Map<string, ReceiverStart>> {
  const { rows } = await sql<{ notification_id: string; event_number: bigint; recorded: string[] }>`
    select c.notification_id, c.event_number, coalesce(
      (select jsonb_agg(d.event_number::text) from deliveries d
        where d.notification_id = c.notification_id and d.event_number > c.event_number), '[]') as recorded
    from delivery_cursors c where c.notification_id = any(${[...notificationIds]}::text[])`.execute(db)
  return new Map(
    rows.map((row) => [
      row.notification_id,
      { cursor: row.event_number, recorded: new Set(row.recorded.map(BigInt)) },
    ]),
  )
}

/** The stored facts about a notification's place in the event log. */
export interface Cursor {
  /** Distinguishes the notification from an earlier one with the same id. */
  readonly createdAt: Date
  /** Deliveries of earlier events are retried as if they were from this time. */
  readonly windowFrom: Date | undefined
}

/** Reads the cursors of all notifications, by id. */
export async function readCursors(db: Db): Promise<Map<string, Cursor>> {
  const rows = await db
    .selectFrom('delivery_cursors')
    .select(['notification_id', 'created_at', 'window_from'])
    .execute()
  return new Map(
    rows.map((row) => [
      row.notification_id,
      { createdAt: row.created_at, windowFrom: row.window_from ?? undefined },
    ]),
  )
}

/** The part of the log that is read for a notification. */
export interface Range {
  readonly notificationId: string
  readonly after: bigint
  readonly limit: number
}

/** An event without a delivery yet. */
export interface FreshEvent {
  readonly notificationId: string
  readonly event: EventRecord
  readonly orderingKey: string
  /** An earlier delivery of its ordering key is open. */
  readonly isBlocked: boolean
}

type EventRow = Parameters<typeof toEventRecord>[0]

/**
 * The events of a transaction are in order, and the beginning and the end of an alert: a receiver that gets
 * the end first would wait for it permanently. Others are unordered. `case` reads no content of other types.
 */
const ORDERING_KEY = sql<string>`coalesce(transaction_id,
  'alert ' || case when type = 'alert' then payload ->> 'alert_id' end, 'event ' || number)`

/** Reads the next numbered events of many notifications up to a number, those of each in order. */
export async function readFresh(db: Db, ranges: readonly Range[], upTo: bigint): Promise<FreshEvent[]> {
  const { rows } = await sql<EventRow & { receiver: string; ordering_key: string; is_blocked: boolean }>`
    select e.*, r.id as receiver, exists (
      select from deliveries d where d.notification_id = r.id and d.ordering_key = e.ordering_key
        and d.status in ('pending', 'waiting')) as is_blocked
    from ${recordset(ranges)}
    cross join lateral (
      select ${columnsOf('events')}, ${ORDERING_KEY} as ordering_key from events
      where notification_id = r.id and number > r.after and number <= ${upTo} order by number limit r.most) e
    order by e.number`.execute(db)
  return rows.map((row) => ({
    notificationId: row.receiver,
    event: toEventRecord(row),
    orderingKey: row.ordering_key,
    isBlocked: row.is_blocked,
  }))
}

/**
 * Reads the deliveries with a row that are due, in the order of their time. `limit` counts for each
 * notification.
 */
export async function readDue(db: Db, ranges: readonly Omit<Range, 'after'>[]): Promise<Outgoing[]> {
  const { rows } = await sql<
    EventRow & { receiver: string; ordering_key: string; tries: number; give_up_at: Date }
  >`
    select ${columnsOf('e')}, r.id as receiver, d.ordering_key, d.tries, coalesce(d.give_up_at, now()) as give_up_at
    from ${recordset(ranges.map((range) => ({ ...range, after: 0n })))}
    cross join lateral (
      select * from deliveries
      where notification_id = r.id and status = 'pending' and next_try_at <= now() order by next_try_at limit r.most) d
    join events e on e.number = d.event_number
    order by d.next_try_at, e.number`.execute(db)
  return rows.map((row) => ({
    notificationId: row.receiver,
    event: toEventRecord(row),
    orderingKey: row.ordering_key,
    tries: row.tries,
    giveUpAt: row.give_up_at,
    stored: true,
  }))
}

function recordset(ranges: readonly Range[]) {
  const records = ranges.map(({ notificationId, after, limit }) => ({
    id: notificationId,
    after: String(after),
    most: limit,
  }))
  return sql`jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as r (id text, after bigint, most integer)`
}

function columnsOf(table: string) {
  return sql.join(EVENT_COLUMNS.map((column) => sql.ref(`${table}.${column}`)))
}
