import { sql } from 'kysely'
import type { Db } from '../database/db.ts'

/**
 * The number of events that one statement reads and deletes. A statement blocks the embedded database while
 * it runs.
 */
const PAGE = 500

interface Deletion {
  /** Events before this time are old. */
  readonly before: Date
  /** Called after this many deleted events, and at the end if more were deleted. */
  readonly afterMany: { readonly events: number; readonly work: () => Promise<void> }
  /** True ends the deletion early; the next one begins again. Default: never. */
  readonly isOver?: () => boolean
}

/**
 * Deletes old events that no open delivery needs, with their settled deliveries. Returns their number. Events
 * are stored in the order of their time, so it reads the log from its beginning and no index of times is
 * needed.
 */
export async function deleteOldEvents(
  db: Db,
  { before, afterMany, isOver = () => false }: Deletion,
): Promise<number> {
  let total = 0
  let since = 0
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const page = await deletePage(db, { before, after })
    total += page.deleted
    since += page.deleted
    after = isOver() ? undefined : page.next
    if (since === 0 || (after !== undefined && since < afterMany.events)) continue
    await afterMany.work()
    since = 0
  }
  return total
}

interface Page {
  readonly deleted: number
  /** The number after which the next page begins; undefined if it has no old event. */
  readonly next: bigint | undefined
}

async function deletePage(
  db: Db,
  { before, after }: { readonly before: Date; readonly after: bigint },
): Promise<Page> {
  // One old event in the page is enough to continue: a clock that was set back makes later events look older.
  const { rows } = await sql<{ deleted: bigint; next: bigint | null }>`
    with page as materialized (
      select number, created_at < ${before} as is_old from events where number > ${after} order by number limit ${PAGE}),
    old as (
      delete from events e using page
      where e.number = page.number and page.is_old and not ${IS_TO_BE_DELIVERED}
      returning e.notification_id, e.number),
    delivered as (
      delete from deliveries d using old
      where d.notification_id = old.notification_id and d.event_number = old.number)
    select (select count(*) from old) as deleted, (select max(number) from page having bool_or(is_old)) as next`.execute(
    db,
  )
  const [row] = rows
  return { deleted: Number(row?.deleted ?? 0n), next: row?.next ?? undefined }
}

/** An event behind the cursor of its notification, or of a plugin, needs no row to be delivered. */
const IS_TO_BE_DELIVERED = sql`(coalesce(
  (select d.status in ('pending', 'waiting') from deliveries d
    where d.notification_id = e.notification_id and d.event_number = e.number),
  (select e.number > c.event_number from delivery_cursors c
    where c.notification_id = e.notification_id),
  false)
  or exists (select from plugin_cursors p where p.event_number < e.number)
  or exists (select from plugin_events w where w.event_number = e.number))`
