import { type Kysely, sql } from 'kysely'

/** Hooks of plugins: up to which event each has been called, the events that it could not take yet, and the last runs of its schedules. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS: readonly string[] = [
  `create table plugin_cursors (
    plugin_id text primary key,
    -- The plugin was called with every event up to this one, or the event is in plugin_events.
    event_number bigint not null
  )`,
  `create table plugin_events (
    plugin_id text not null,
    event_number bigint not null,
    -- Of the events with the same key, the plugin gets only the oldest.
    ordering_key text not null,
    tries integer not null,
    next_try_at timestamptz not null,
    -- Null for an event that waits for an earlier one.
    first_try_at timestamptz,
    primary key (plugin_id, event_number)
  )`,
  'create index plugin_events_order on plugin_events (plugin_id, ordering_key, event_number)',
  'create index plugin_events_numbers on plugin_events (event_number)',
  `create table plugin_schedules (
    plugin_id text not null,
    name text not null,
    -- The expression and the time zone; with another one, the past times do not count.
    cron text not null,
    -- The newest time that was run, or at which the schedule began.
    last_at timestamptz not null,
    primary key (plugin_id, name)
  )`,
]
