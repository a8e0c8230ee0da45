import { type Kysely, sql, type Transaction } from 'kysely'
import { notify } from '../../database/notify.ts'
import type { Schema } from '../../database/schema.ts'
import { lockOrderingKeys, startNext } from './delivery-store.ts'
import { DUE_CHANNEL } from './fan-out-store.ts'
import type { JobQueue } from './job-queue.ts'
import { BACKOFF } from './schedule.ts'

/**
 * Selects deliveries of a notification. `late`: those whose first or next try lies further ahead than it can, because the clock of the
 * database was ahead when they were written.
 */
export type Selection =
  | { readonly kind: 'late' }
  | { readonly kind: 'one'; readonly id: string }
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

interface RedeliverDeps {
  readonly db: Kysely<Schema>
  readonly queue: JobQueue
}

/** Delivers the selected deliveries again, in any status; those that wait for a retry are tried now. Returns their number. */
export async function redeliver(
  { db, queue }: RedeliverDeps,
  { notificationId, selection, limit, windowMs }: Redelivery,
): Promise<number> {
  await queue.open(notificationId)
  return db.transaction().execute(async (tx) => {
    const selected = await select(tx, notificationId, { selection, limit })
    if (selected.length === 0) return 0
    const ids = selected.map(({ id }) => id)
    const orderingKeys = [...new Set(selected.map(({ orderingKey }) => orderingKey))]
    await lockOrderingKeys(tx, notificationId, orderingKeys)
    await sql`
      update deliveries set status = 'waiting', settled_at = null, next_try_at = null,
        give_up_at = now() + ${windowMs}::float8 * interval '1 millisecond'
      where id = any(${ids}::uuid[])`.execute(tx)
    await queue.remove(tx, notificationId, ids)
    const ready = await startNext(tx, notificationId, orderingKeys)
    await queue.add(
      tx,
      notificationId,
      ready.map((id) => ({ id, delayMs: 0 })),
    )
    await notify(tx, DUE_CHANNEL, notificationId)
    return selected.length
  })
}

/** Counts the deliveries that match a selection. */
export async function countSelected(
  db: Kysely<Schema>,
  notificationId: string,
  selection: Selection,
): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from deliveries where notification_id = ${notificationId} and ${matches(selection)}`.execute(
    db,
  )
  return Number(rows[0]?.count ?? 0)
}

/** Restarts the retry time of all open deliveries from now, because nothing was sent during the pause. */
export async function restartWindow(
  tx: Transaction<Schema>,
  notificationId: string,
  windowMs: number,
): Promise<void> {
  await sql`
    update deliveries set give_up_at = now() + ${windowMs}::float8 * interval '1 millisecond'
    where notification_id = ${notificationId} and status in ('pending', 'waiting')`.execute(tx)
  await notify(tx, DUE_CHANNEL, notificationId)
}

async function select(
  tx: Transaction<Schema>,
  notificationId: string,
  { selection, limit }: Pick<Redelivery, 'selection' | 'limit'>,
): Promise<{ id: string; orderingKey: string }[]> {
  const { rows } = await sql<{ id: string; orderingKey: string }>`
    select id, ordering_key as "orderingKey" from deliveries
    where notification_id = ${notificationId} and ${matches(selection)}
    order by event_number limit ${limit}`.execute(tx)
  return rows
}

function matches(selection: Selection) {
  switch (selection.kind) {
    case 'late':
      return LATE
    case 'one':
      return sql`id::text = ${selection.id}`
    case 'dead':
      return sql`status = 'dead'`
    case 'range':
      return sql`event_number between ${selection.from} and ${selection.to}`
  }
}

/** A smaller difference between the clocks of the processes and of the database is no fault. */
const TOLERANCE = sql`interval '5 seconds'`

/** The longest wait after so many tries, in ms. */
const LONGEST_WAIT_MS = sql`least(${BACKOFF.maxMs}::float8, ${BACKOFF.baseMs} * power(2, tries - 1))`

/** A wait that the receiver asked for (`Retry-After`) can be of any length. */
const LATE = sql`status = 'pending' and case
  when tries = 0 then created_at > now() + ${TOLERANCE}
  else coalesce(last_try->'response'->'headers'->>'retry-after', '') = ''
    and next_try_at > now() + ${TOLERANCE} + ${LONGEST_WAIT_MS} * interval '1 millisecond' end`
