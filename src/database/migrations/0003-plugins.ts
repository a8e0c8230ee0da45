import { type Kysely, sql } from 'kysely'

/** Plugins: the settings that callers changed, their values, and their locks. Their rights are rows of `api_keys`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS: readonly string[] = [
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
  'alter table file_entries drop constraint file_entries_kind_check',
  "alter table file_entries add constraint file_entries_kind_check check (kind in ('relayer', 'notification', 'signer', 'plugin'))",
]
