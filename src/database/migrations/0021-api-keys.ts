import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  `create table api_keys (
    id text primary key,
    name text not null,
    scopes jsonb not null,
    relayers jsonb,
    networks jsonb,
    disabled boolean not null default false,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    created_by text not null,
    deleted_at timestamptz
  )`,
  `create table api_key_secrets (
    hash bytea primary key,
    api_key_id text not null references api_keys(id),
    prefix text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz
  )`,
  'create index api_key_secrets_of_key on api_key_secrets (api_key_id)',
  // Apart from the key itself, so that a use is no change of it.
  `create table api_key_uses (
    api_key_id text primary key references api_keys(id),
    last_used_at timestamptz not null
  )`,
  // Each change locks this row until its commit, so a reader that has seen a version has seen every change before it.
  'create table api_key_changes (id integer primary key default 1 check (id = 1), version bigint not null)',
  'insert into api_key_changes (version) values (0)',
  `create function announce_api_keys() returns trigger language plpgsql as $$
  begin
    update api_key_changes set version = version + 1;
    perform pg_notify('api_keys_changed', '');
    return null;
  end $$`,
  `create trigger api_keys_changed after insert or update or delete on api_keys
    for each statement execute function announce_api_keys()`,
  `create trigger api_key_secrets_changed after insert or update or delete on api_key_secrets
    for each statement execute function announce_api_keys()`,
]

/** Adds API keys as records. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
