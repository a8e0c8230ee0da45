import { sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import type { PluginHooks, ScheduleHook } from './hook.ts'

/** The times are those of the database, so that all processes agree. */

/**
 * Prepares the hooks of a plugin whose entry in the file is new or changed. A new `on_event` begins with the
 * next event, and a new or changed schedule with its next time.
 */
export async function prepareHooks(
  tx: Tx,
  plugin: string,
  { on_event, schedule }: PluginHooks,
): Promise<void> {
  if (on_event === undefined) await forgetEvents(tx, [plugin])
  else
    await sql`
      insert into plugin_cursors (plugin_id, event_number)
      select ${plugin}, last_value from event_numbers on conflict (plugin_id) do nothing`.execute(tx)
  const names = schedule.map(({ name }) => name)
  let others = tx.deleteFrom('plugin_schedules').where('plugin_id', '=', plugin)
  if (names.length > 0) others = others.where('name', 'not in', names)
  await others.execute()
  for (const one of schedule)
    await sql`
      insert into plugin_schedules as known (plugin_id, name, cron, last_at)
      values (${plugin}, ${one.name}, ${cronOf(one)}, date_trunc('milliseconds', now()))
      on conflict (plugin_id, name) do update set cron = excluded.cron, last_at = excluded.last_at
        where known.cron <> excluded.cron`.execute(tx)
}

/** Forgets the hooks of plugins that the file no longer has. */
export async function forgetHooks(tx: Tx, plugins: readonly string[]): Promise<void> {
  if (plugins.length === 0) return
  await forgetEvents(tx, plugins)
  await tx.deleteFrom('plugin_schedules').where('plugin_id', 'in', plugins).execute()
}

async function forgetEvents(tx: Tx, plugins: readonly string[]): Promise<void> {
  await tx.deleteFrom('plugin_events').where('plugin_id', 'in', plugins).execute()
  await tx.deleteFrom('plugin_cursors').where('plugin_id', 'in', plugins).execute()
}

function cronOf({ cron, timezone }: ScheduleHook): string {
  return `${cron} ${timezone}`
}

/** Reads the number up to which the plugin needs no further reading; undefined if it has no cursor. */
export async function readCursor(db: Db, plugin: string): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('plugin_cursors')
    .select('event_number')
    .where('plugin_id', '=', plugin)
    .executeTakeFirst()
  return row?.event_number
}

/** An event that waits for its next try, or for an earlier one with its key. */
export interface WaitingEvent {
  readonly number: bigint
  readonly key: string
  readonly tries: number
}

/**
 * Stores that everything up to a number was read, with what could not be handled. A failed event waits for
 * `delayMs`.
 */
export async function saveRead(
  tx: Tx,
  plugin: string,
  {
    upTo,
    waiting,
  }: {
    readonly upTo: bigint
    readonly waiting: readonly (Omit<WaitingEvent, 'tries'> & { readonly hasFailed: boolean })[]
  },
  delayMs: number,
): Promise<void> {
  const delay = sql<Date>`clock_timestamp() + ${delayMs}::float8 * interval '1 millisecond'`
  if (waiting.length > 0)
    await tx
      .insertInto('plugin_events')
      .values(
        waiting.map(({ number, key, hasFailed }) => ({
          plugin_id: plugin,
          event_number: number,
          ordering_key: key,
          tries: hasFailed ? 1 : 0,
          next_try_at: hasFailed ? delay : sql<Date>`clock_timestamp()`,
          first_try_at: hasFailed ? sql<Date>`clock_timestamp()` : null,
        })),
      )
      .execute()
  await tx.updateTable('plugin_cursors').set({ event_number: upTo }).where('plugin_id', '=', plugin).execute()
}

/** Reads the keys of which an event waits, and the number of waiting events. */
export async function readWaiting(
  db: Db,
  plugin: string,
): Promise<{ readonly keys: ReadonlySet<string>; readonly count: number }> {
  const rows = await db
    .selectFrom('plugin_events')
    .select((eb) => ['ordering_key', eb.fn.countAll<bigint>().as('count')])
    .where('plugin_id', '=', plugin)
    .groupBy('ordering_key')
    .execute()
  const count = rows.reduce((sum, row) => sum + Number(row.count), 0)
  return { keys: new Set(rows.map((row) => row.ordering_key)), count }
}

/** Finds the oldest event of each key, where its time has come. */
export async function findDue(db: Db, plugin: string, limit: number): Promise<WaitingEvent[]> {
  const { rows } = await sql<{ number: bigint; key: string; tries: number }>`
    select event_number as number, ordering_key as key, tries from (
      select distinct on (ordering_key) * from plugin_events where plugin_id = ${plugin}
      order by ordering_key, event_number
    ) as oldest
    where next_try_at <= clock_timestamp() order by event_number limit ${limit}`.execute(db)
  return rows
}

/** Removes an event that the plugin has handled, or that is no longer in the log. */
export async function removeWaiting(db: Db, plugin: string, number: bigint): Promise<void> {
  await db
    .deleteFrom('plugin_events')
    .where('plugin_id', '=', plugin)
    .where('event_number', '=', number)
    .execute()
}

/**
 * Stores a failed try. Removes the event and returns `given_up` if its first try is older than `longestMs`.
 */
export async function saveFailedTry(
  db: Db,
  plugin: string,
  {
    number,
    delayMs,
    longestMs,
  }: { readonly number: bigint; readonly delayMs: number; readonly longestMs: number },
): Promise<'waits' | 'given_up'> {
  const { rows } = await sql<{ number: bigint }>`
    delete from plugin_events where plugin_id = ${plugin} and event_number = ${number}
      and first_try_at <= clock_timestamp() - ${longestMs}::float8 * interval '1 millisecond'
    returning event_number as number`.execute(db)
  if (rows.length > 0) return 'given_up'
  await sql`
    update plugin_events set tries = tries + 1, first_try_at = coalesce(first_try_at, clock_timestamp()),
      next_try_at = clock_timestamp() + ${delayMs}::float8 * interval '1 millisecond'
    where plugin_id = ${plugin} and event_number = ${number}`.execute(db)
  return 'waits'
}

/** The newest time of a schedule that was run, or at which it began. */
export interface LastRun {
  readonly plugin: string
  readonly name: string
  readonly lastAt: Date
}

/** Reads the last runs of all schedules, or of those of one plugin. */
export async function readLastRuns(db: Db, plugin?: string): Promise<LastRun[]> {
  const all = db.selectFrom('plugin_schedules').select(['plugin_id', 'name', 'last_at'])
  const rows = await (plugin === undefined ? all : all.where('plugin_id', '=', plugin)).execute()
  return rows.map((row) => ({ plugin: row.plugin_id, name: row.name, lastAt: row.last_at }))
}

/** Moves the last run of a schedule. Returns false if another process has moved it. */
export async function moveLastRun(db: Db, { plugin, name, lastAt }: LastRun, to: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('plugin_schedules')
    .set({ last_at: to })
    .where('plugin_id', '=', plugin)
    .where('name', '=', name)
    .where('last_at', '=', lastAt)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** The events that a plugin has not handled yet, for people. */
export interface EventBacklog {
  readonly waiting: number
  /** The time of the oldest of those that failed; undefined if none did. */
  readonly failingSince: Date | undefined
}

/** Reads the backlog of a plugin. */
export async function readBacklog(db: Db, plugin: string): Promise<EventBacklog> {
  const row = await db
    .selectFrom('plugin_events')
    .select((eb) => [
      eb.fn.countAll<bigint>().as('waiting'),
      eb.fn.min<Date | null>('first_try_at').as('failing_since'),
    ])
    .where('plugin_id', '=', plugin)
    .executeTakeFirstOrThrow()
  return { waiting: Number(row.waiting), failingSince: row.failing_since ?? undefined }
}
