import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { ALL_RELAYERS, seesEverything, type Visibility } from '../../access/principal.ts'
import { ofVisibleEvent, ofVisibleRelayer } from '../../access/visibility-store.ts'
import type { Db } from '../../database/db.ts'
import type { DeliveriesTable } from '../../database/tables/events.ts'
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
  /** Deliveries of other events are left out. */
  readonly visibility?: Visibility
  readonly offset: number
  readonly limit: number
}

/**
 * A numbered event of a notification that was never tried, so its delivery has no row. With `offset 0` the
 * database begins at the cursor and looks up each event: it expects far more of them than there are, and
 * would read all events and deliveries instead.
 */
const UNTRIED = sql`
  from delivery_cursors c
  cross join lateral (
    select * from events where events.notification_id = c.notification_id and events.number > c.event_number offset 0) e
  where not exists (
    select from deliveries d where d.notification_id = c.notification_id and d.event_number = e.number offset 0)`

/** An earlier event of the same transaction has no final result. */
const IS_BLOCKED = sql<boolean>`(
  exists (
    select from deliveries o where o.notification_id = c.notification_id and o.ordering_key = e.transaction_id
      and o.status in ('pending', 'waiting'))
  or exists (
    select from events p where p.transaction_id = e.transaction_id and p.notification_id = c.notification_id
      and p.number > c.event_number and p.number < e.number
      and not exists (
        select from deliveries d where d.notification_id = c.notification_id and d.event_number = p.number)))`

/** Lists the deliveries of a notification, newest event first. */
export async function listDeliveries(
  db: Db,
  { notificationId, status, visibility = ALL_RELAYERS, offset, limit }: ListQuery,
): Promise<{ items: DeliveryOfEvent[]; total: number }> {
  const stored = sql`${ofStatus(notificationId, status)} and ${isVisible(visibility, 'deliveries.event_number')}`
  const untried = sql`${untriedOf(notificationId, status)} and ${isVisible(visibility, 'e.number')}`
  const newest = sql`order by number desc limit ${offset + limit}`
  const [page, counts] = await Promise.all([
    sql<{ number: bigint }>`
      (select event_number as number from deliveries where ${stored} ${newest})
      union all (select e.number ${untried} ${newest})
      order by number desc offset ${offset} limit ${limit}`.execute(db),
    sql<{ total: bigint }>`
      select ${
        seesEverything(visibility)
          ? sql`(select coalesce(sum(count), 0)::bigint from delivery_counts where ${ofStatus(notificationId, status)})`
          : sql`(select count(*) from deliveries where ${stored})`
      } + (select count(*) ${untried}) as total`.execute(db),
  ])
  const numbers = page.rows.map(({ number }) => number)
  return {
    items: await readDeliveries(db, notificationId, numbers),
    total: Number(counts.rows[0]?.total ?? 0),
  }
}

function isVisible(visibility: Visibility, number: string) {
  return seesEverything(visibility) ? sql`true` : ofVisibleEvent(visibility, number)
}

function ofStatus(notificationId: string, status: DeliveryStatus | undefined) {
  const own = sql`notification_id = ${notificationId}`
  return status === undefined ? own : sql`${own} and status = ${status}`
}

function untriedOf(notificationId: string, status: DeliveryStatus | undefined) {
  const own = sql`${UNTRIED} and c.notification_id = ${notificationId}`
  switch (status) {
    case undefined:
      return own
    case 'waiting':
      return sql`from (select e.number, ${isBlockedOfAll(notificationId)} as blocked ${own}) e where e.blocked`
    case 'pending':
      return sql`from (select e.number, ${isBlockedOfAll(notificationId)} as blocked ${own}) e where not e.blocked`
    default:
      return sql`${own} and false`
  }
}

/**
 * The same as `IS_BLOCKED` for all untried events at once: one pass, where a look for each event grows with
 * the square of their number.
 */
function isBlockedOfAll(notificationId: string) {
  return sql<boolean>`coalesce(
    row_number() over (partition by e.transaction_id order by e.number) > 1
      or e.transaction_id in (
        select o.ordering_key from deliveries o
        where o.notification_id = ${notificationId} and o.status in ('pending', 'waiting')),
    false) and e.transaction_id is not null`
}

/** Finds a visible delivery of this notification; undefined for the id of another notification's delivery. */
export async function findDelivery(
  db: Db,
  notificationId: string,
  {
    deliveryId: id,
    visibility = ALL_RELAYERS,
  }: { readonly deliveryId: string; readonly visibility?: Visibility },
): Promise<DeliveryOfEvent | undefined> {
  const number = eventNumberOf(notificationId, id)
  if (number === undefined || !(await sees(db, visibility, number))) return undefined
  const [found] = await readDeliveries(db, notificationId, [number])
  return found
}

async function sees(db: Db, visibility: Visibility, number: bigint): Promise<boolean> {
  if (seesEverything(visibility)) return true
  const row = await db
    .selectFrom('events')
    .select('number')
    .where('number', '=', number)
    .where(ofVisibleRelayer(visibility, 'events.relayer_id'))
    .executeTakeFirst()
  return row !== undefined
}

/** Reads the deliveries of these events that exist, newest first, with a row or without. */
async function readDeliveries(
  db: Db,
  notificationId: string,
  numbers: readonly bigint[],
): Promise<DeliveryOfEvent[]> {
  if (numbers.length === 0) return []
  // A delivery gets its row at its first try, so in this order none is missed: one that gets it in the
  // meantime is read twice.
  const { rows: untried } = await sql<Row>`
    select ${EVENT_OF_DELIVERY}, case when ${IS_BLOCKED} then 'waiting' else 'pending' end as status, 0 as tries
    ${UNTRIED} and c.notification_id = ${notificationId} and e.number = any(${numbers}::bigint[])`.execute(db)
  const { rows: stored } = await sql<Row>`
    select ${EVENT_OF_DELIVERY}, d.status, d.tries, d.next_try_at, d.tried_at, d.settled_at, d.last_try
    from deliveries d join events e on e.number = d.event_number
    where d.notification_id = ${notificationId} and d.event_number = any(${numbers}::bigint[])`.execute(db)
  const newest = new Map([...untried, ...stored].map((row) => [row.number, row]))
  return [...newest.values()]
    .map((row) => ({ delivery: toDelivery(row, notificationId), event: toEventRecord(row) }))
    .sort((one, other) => Number(other.event.number - one.event.number))
}

const EVENT_OF_DELIVERY = sql.join(EVENT_COLUMNS.map((column) => sql.ref(`e.${column}`)))

type Row = Parameters<typeof toEventRecord>[0] &
  Pick<Selectable<DeliveriesTable>, 'status' | 'tries'> &
  Partial<Pick<Selectable<DeliveriesTable>, 'next_try_at' | 'tried_at' | 'settled_at' | 'last_try'>>

function toDelivery(row: Row, notificationId: string): Delivery {
  return {
    id: deliveryId(notificationId, row.number ?? 0n),
    notificationId,
    status: row.status as DeliveryStatus,
    tries: row.tries,
    ...(row.next_try_at && { nextTryAt: row.next_try_at }),
    ...(row.tried_at && { triedAt: row.tried_at }),
    ...(row.settled_at && { settledAt: row.settled_at }),
    ...(row.last_try && { lastTry: row.last_try as Exchange }),
  }
}

/**
 * Adds up the rows of the counts, of which each statement about deliveries writes some. The sums stay the
 * same at every moment.
 */
export async function foldCounts(db: Db): Promise<void> {
  await sql`
    with folded as (delete from delivery_counts returning notification_id, status, count)
    insert into delivery_counts (notification_id, status, count)
    select notification_id, status, sum(count) from folded group by notification_id, status having sum(count) <> 0`.execute(
    db,
  )
}

/** Counts the dead letters by notification. Notifications without any are absent. */
export async function countDead(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('deliveries')
    .select((eb) => ['notification_id', eb.fn.countAll<bigint>().as('count')])
    .where('status', '=', 'dead')
    .groupBy('notification_id')
    .execute()
  return new Map(rows.map(({ notification_id, count }) => [notification_id, Number(count)]))
}

/** The maximum number of untried events that are counted. The exact number above it does not matter. */
const MAX_UNTRIED = 10_000

/**
 * Counts the committed events whose delivery was never tried; undefined if there are no notifications. Paused
 * ones do not count.
 */
export async function countUntriedEvents(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ lag: bigint }>`
    select (select count(*) from (
        select ${UNTRIED} and c.notification_id in (select id from notifications where not paused)
        limit ${MAX_UNTRIED}) untried) as lag
    where exists (select from notifications)`.execute(db)
  return rows[0] && Number(rows[0].lag)
}

/**
 * Finds the time of the oldest event that waits for its delivery, by notification: never tried, or to be
 * tried again. Notifications without any, and paused ones, are absent. Each part reads the beginning of an
 * index.
 */
export async function findOldestWaiting(db: Db): Promise<Map<string, Date>> {
  const { rows } = await sql<{ notification_id: string; since: Date }>`
    select c.notification_id, min(waiting.created_at) as since
    from notifications n
    join delivery_cursors c on c.notification_id = n.id
    cross join lateral (
      (select e.created_at from events e
        where e.notification_id = c.notification_id and e.number > c.event_number
          and not exists (
            select from deliveries d
            where d.notification_id = c.notification_id and d.event_number > c.event_number and d.event_number = e.number offset 0)
        order by e.number limit 1)
      union all
      (select e.created_at from deliveries d join events e on e.number = d.event_number
        where d.notification_id = c.notification_id and d.status in ('pending', 'waiting')
        order by d.event_number limit 1)) waiting
    where not n.paused
    group by c.notification_id`.execute(db)
  return new Map(rows.map(({ notification_id, since }) => [notification_id, since]))
}

/**
 * A UUID of version 8 (RFC 9562): 60 bits of a hash of the notification, then 60 bits of the event number.
 */
const ID = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-8([0-9a-f]{3})-([0-9a-f]{12})$/i

/** Derives the id of a delivery, so that it needs no row before its first try and no index after it. */
export function deliveryId(notificationId: string, eventNumber: bigint): string {
  const hash = hashOf(notificationId)
  const number = eventNumber.toString(16).padStart(15, '0')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(12)}-8${number.slice(0, 3)}-${number.slice(3)}`
}

/**
 * Reads the event number from a derived id; undefined for any other text, and for the id of another
 * notification's delivery.
 */
export function eventNumberOf(notificationId: string, id: string): bigint | undefined {
  const [, first, second, third, high, low] = ID.exec(id) ?? []
  const hash = `${first}${second}${third}`.toLowerCase()
  return hash === hashOf(notificationId) ? BigInt(`0x${high}${low}`) : undefined
}

function hashOf(notificationId: string): string {
  return createHash('sha256').update(notificationId).digest('hex').slice(0, 15)
}
