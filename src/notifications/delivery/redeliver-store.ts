import { sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import { notify } from '../../database/sql-helpers.ts'
import { startNext } from './record-store.ts'
import { BACKOFF } from './try-delivery.ts'

/** The channel that announces a change of what is due, of a notification or of its keys. */
export const DUE_CHANNEL = 'deliveries_due'

/** Selects deliveries of a notification that have a row. The others are sent anyway. */
export type Selection =
  | { readonly kind: 'one'; readonly eventNumber: bigint }
  | { readonly kind: 'dead' }
  | { readonly kind: 'range'; readonly from: bigint; readonly to: bigint }

interface Redelivery {
  readonly notificationId: string
  readonly selection: Selection
  /** The maximum number of deliveries, oldest events first. */
  readonly limit: number
  /** Time in ms for which they are tried. */
  readonly windowMs: number
}

/**
 * Delivers the selected deliveries again, in any status; those that wait for a retry are tried now. Returns
 * their number.
 */
export async function redeliver(
  tx: Tx,
  { notificationId, selection, limit, windowMs }: Redelivery,
): Promise<number> {
  const selected = await select(tx, notificationId, { selection, limit })
  if (selected.length === 0) return 0
  const keys = [...new Set(selected.map(({ orderingKey }) => orderingKey))]
  await lockOpen(tx, notificationId, keys)
  await sql`
    update deliveries set status = 'waiting', settled_at = null, next_try_at = null,
      give_up_at = now() + ${windowMs}::float8 * interval '1 millisecond'
    where notification_id = ${notificationId} and event_number = any(${selected.map(({ number }) => number)}::bigint[])`.execute(
    tx,
  )
  await startNext(
    tx,
    keys.map((orderingKey) => ({ notificationId, orderingKey })),
  )
  await notify(tx, DUE_CHANNEL)
  return selected.length
}

/**
 * Locks all open deliveries of these ordering keys until the commit. Otherwise a delivery could be made to
 * wait for one that a result is just ending, and no process would start it.
 */
async function lockOpen(tx: Tx, notificationId: string, orderingKeys: readonly string[]): Promise<void> {
  // The order of locks: database/locks/lock-order.md.
  await sql`
    select event_number from deliveries
    where notification_id = ${notificationId} and ordering_key = any(${[...orderingKeys]}::text[])
      and status in ('pending', 'waiting')
    order by event_number for update`.execute(tx)
}

/** The maximum number of late deliveries that one call makes due. */
const MAX_LATE = 1_000

/**
 * Makes deliveries due whose next try lies further ahead than it can: the clock of the database was ahead
 * when it was written.
 */
export async function startLate(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ notification_id: string }>`
    update deliveries d set next_try_at = now()
    from (select notification_id, event_number from deliveries where ${LATE} limit ${MAX_LATE}) late
    where d.notification_id = late.notification_id and d.event_number = late.event_number and d.status = 'pending'
    returning d.notification_id`.execute(db)
  const groups = Map.groupBy(rows, (row) => row.notification_id)
  return new Map([...groups].map(([id, items]) => [id, items.length]))
}

/** Counts the deliveries that match a selection. */
export async function countSelected(db: Db, notificationId: string, selection: Selection): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from deliveries where notification_id = ${notificationId} and ${matches(selection)}`.execute(
    db,
  )
  return Number(rows[0]?.count ?? 0)
}

/** Restarts the retry time of all open deliveries from now, because nothing was sent during the pause. */
export async function restartWindow(tx: Tx, notificationId: string, windowMs: number): Promise<void> {
  await sql`
    update deliveries set give_up_at = now() + ${windowMs}::float8 * interval '1 millisecond'
    where notification_id = ${notificationId} and status in ('pending', 'waiting')`.execute(tx)
  await sql`update delivery_cursors set window_from = now() where notification_id = ${notificationId}`.execute(
    tx,
  )
  await notify(tx, DUE_CHANNEL)
}

async function select(
  tx: Tx,
  notificationId: string,
  { selection, limit }: Pick<Redelivery, 'selection' | 'limit'>,
): Promise<{ number: bigint; orderingKey: string }[]> {
  const { rows } = await sql<{ number: bigint; orderingKey: string }>`
    select event_number as number, ordering_key as "orderingKey" from deliveries
    where notification_id = ${notificationId} and ${matches(selection)}
    order by event_number limit ${limit}`.execute(tx)
  return rows
}

function matches(selection: Selection) {
  switch (selection.kind) {
    case 'one':
      return sql`event_number = ${selection.eventNumber}`
    case 'dead':
      return sql`status = 'dead'`
    case 'range':
      return sql`event_number between ${selection.from} and ${selection.to}`
  }
}

/** A smaller difference between the clocks of the processes and of the database is no fault. */
const TOLERANCE = sql`interval '5 seconds'`

/** The longest wait after this many attempts, in ms. */
const LONGEST_WAIT_MS = sql`case when tries = 0 then 0::float8
  else least(${BACKOFF.maxMs}::float8, ${BACKOFF.baseMs} * power(2, least(tries, 32) - 1)) end`

/** A wait that the receiver requested (`Retry-After`) can be of any length. */
const LATE = sql`status = 'pending' and next_try_at > now() + ${TOLERANCE} + ${LONGEST_WAIT_MS} * interval '1 millisecond'
  and coalesce(last_try->'response'->'headers'->>'retry-after', '') = ''`
