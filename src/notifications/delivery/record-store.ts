import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { type Lease, LeaseLostError } from '../../database/lease.ts'
import type { Settlement } from './delivery.ts'

/** A notification whose results are recorded, and its place in the event log after that. */
export interface Move {
  readonly notificationId: string
  readonly cursor: bigint
  /**
   * The time in ms of the creation of the notification. One created later under the same id gets none of the
   * results.
   */
  readonly since: number
}

interface Recording {
  readonly settlements: readonly Settlement[]
  readonly moves: readonly Move[]
}

/**
 * Writes results and moves the cursors of their notifications in one statement, so that a crash leaves both
 * or neither. A first result is inserted, a later one updates its row unless it has since been changed.
 * Results of deleted notifications are dropped.
 * @throws LeaseLostError if another process delivers now; nothing is written then
 */
export async function record(db: Db, lease: Lease, { settlements, moves }: Recording): Promise<void> {
  // The order of locks: database/locks/lock-order.md.
  const { rows } = await sql<{ leased: boolean }>`
    with held as materialized (
      select from leases where name = ${lease.name} and owner = ${lease.owner} and fence = ${lease.fence} for share),
    moved as (
      update delivery_cursors c set event_number = m.event_number
      from jsonb_to_recordset(${JSON.stringify(moves.map(toMove))}::jsonb) as m (
        notification_id text, event_number bigint, since timestamptz), held
      where c.notification_id = m.notification_id and c.created_at = m.since
      returning c.notification_id),
    results as materialized (
      select r.* from jsonb_to_recordset(${JSON.stringify(settlements.map(toResult))}::jsonb) as r (
        notification_id text, event_number bigint, ordering_key text, is_stored boolean, status text,
        before integer, tries integer, give_up_at timestamptz, delay_ms float8, tried_at timestamptz, last_try jsonb)
      join moved using (notification_id)),
    added as (
      insert into deliveries (notification_id, event_number, ordering_key, status, tries, give_up_at,
        next_try_at, tried_at, settled_at, last_try)
      select notification_id, event_number, ordering_key, status, tries, give_up_at,
        now() + delay_ms * interval '1 millisecond', tried_at, ${SETTLED_AT}, last_try
      from results r where not is_stored
      on conflict (notification_id, event_number) do nothing)${settlements.some(({ item }) => item.stored) ? CHANGES : sql``}
    select exists (select from held) as leased`.execute(db)
  if (!rows[0]?.leased) throw new LeaseLostError(lease)
}

const SETTLED_AT = sql`case when r.status in ('delivered', 'dead') then now() end`

/** Locked in order, because a caller may request the same deliveries at the same time. */
const CHANGES = sql`,
    locked as materialized (
      select d.notification_id, d.event_number from deliveries d
      join results r on r.is_stored and r.notification_id = d.notification_id and r.event_number = d.event_number
      order by d.notification_id, d.event_number for update of d),
    changed as (
      update deliveries d set status = r.status, tries = r.tries, last_try = coalesce(r.last_try, d.last_try),
        tried_at = coalesce(r.tried_at, d.tried_at), settled_at = ${SETTLED_AT},
        next_try_at = now() + r.delay_ms * interval '1 millisecond'
      from results r join locked l on l.notification_id = r.notification_id and l.event_number = r.event_number
      where d.notification_id = r.notification_id and d.event_number = r.event_number
        and d.tries = r.before and d.status = 'pending')`

function toMove({ notificationId, cursor, since }: Move) {
  return { notification_id: notificationId, event_number: String(cursor), since: new Date(since) }
}

function toResult({ item, status, delayMs, triedAt, lastTry }: Settlement) {
  const { notificationId, event, orderingKey, tries, giveUpAt, stored } = item
  return {
    notification_id: notificationId,
    event_number: String(event.number),
    ordering_key: orderingKey,
    is_stored: stored,
    status,
    before: tries,
    tries: triedAt === undefined ? tries : tries + 1,
    // A delivery that succeeds immediately needs no time limit.
    give_up_at: status === 'delivered' ? undefined : giveUpAt,
    delay_ms: delayMs,
    tried_at: triedAt,
    last_try: lastTry,
  }
}

/** An ordering key of a notification. */
export interface Key {
  readonly notificationId: string
  readonly orderingKey: string
}

/**
 * Makes the first waiting delivery of each ordering key without a pending one due, and returns their number.
 */
export async function startNext(db: Db, keys: readonly Key[]): Promise<number> {
  const records = keys.map((key) => ({ notification_id: key.notificationId, ordering_key: key.orderingKey }))
  return start(
    db,
    sql`jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as k (notification_id text, ordering_key text)`,
  )
}

/**
 * Like `startNext`, for all ordering keys: a process may have died between a result and the start of the next
 * delivery.
 */
export async function startAllNext(db: Db): Promise<number> {
  return start(
    db,
    sql`(select distinct notification_id, ordering_key from deliveries where status = 'waiting') as k`,
  )
}

async function start(db: Db, keys: ReturnType<typeof sql>): Promise<number> {
  const { numAffectedRows } = await sql`
    update deliveries d set status = 'pending', next_try_at = now()
    from (
      select distinct on (w.notification_id, w.ordering_key) w.notification_id, w.event_number
      from ${keys} join deliveries w on w.notification_id = k.notification_id and w.ordering_key = k.ordering_key
      where w.status = 'waiting' and not exists (
        select from deliveries p
        where p.notification_id = w.notification_id and p.ordering_key = w.ordering_key and p.status = 'pending')
      order by w.notification_id, w.ordering_key, w.event_number) first
    where d.notification_id = first.notification_id and d.event_number = first.event_number
      and d.status = 'waiting'`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
