/**
 * Plugins: their settings, values and locks, the events that their hooks get, and the runs of their
 * schedules. Their rights are rows of `api_keys`.
 */
export const PLUGINS: readonly string[] = [
  `create table plugins (
    id text primary key,
    -- The fields that callers changed, over those of the configuration file.
    settings jsonb not null
  )`,
  `create table plugin_values (
    plugin_id text not null,
    key text collate "C" not null,
    -- JSON, as the plugin wrote it.
    value text not null,
    bytes integer not null,
    expires_at timestamptz,
    primary key (plugin_id, key)
  )`,
  'create index plugin_values_expiry on plugin_values (plugin_id, expires_at) where expires_at is not null',
  `create table plugin_locks (
    plugin_id text not null,
    key text not null,
    -- Drawn for each lock, so that no one releases that of another.
    owner text not null,
    expires_at timestamptz not null,
    primary key (plugin_id, key)
  )`,

  // Up to which event each plugin has been called, and the events that it could not take yet.
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
