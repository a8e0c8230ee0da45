import { type Kysely, sql } from 'kysely'

/**
 * Adds records that callers create beside those of the configuration file. Existing records came from the file. `database/schema.ts`
 * describes the columns.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table relayers add column failed_checks integer not null default 0',
  'alter table notifications add column url_by_api boolean not null default false',
  `create table file_entries (
    kind text not null,
    id text not null,
    fingerprint text not null,
    primary key (kind, id)
  )`,
  // This value equals no fingerprint, so the first start with this release applies the entries once more.
  "insert into file_entries select 'relayer', id, '' from relayers where removed_at is null",
  "insert into file_entries select 'notification', id, '' from notifications",
  `create table signers (
    id text primary key,
    type text not null,
    sealed bytea,
    created_at timestamptz not null default now()
  )`,
  `create table network_urls (
    network_type text not null,
    network text not null,
    rpc_urls jsonb not null,
    instead_of text not null,
    primary key (network_type, network)
  )`,
  // I2: two relayers with the same account would use each other's nonces.
  `create table operated_accounts (
    chain text not null,
    address text not null,
    relayer_id text not null references relayers (id),
    primary key (chain, address)
  )`,
  'create index operated_accounts_of on operated_accounts (relayer_id)',
  // This index finds the last confirmed transaction of a relayer.
  "create index transactions_confirmed on transactions (relayer_id, confirmed_at) where status = 'confirmed'",
  // Triggers notify the processes that hold copies, so that no writer can forget it. They fire at the commit.
  `create function announce_fleet() returns trigger language plpgsql as $$
    begin
      perform pg_notify('fleet_changed', '');
      return null;
    end $$`,
  'create trigger announce_fleet after insert or update on relayers for each statement execute function announce_fleet()',
  'create trigger announce_fleet after insert or update or delete on network_urls for each statement execute function announce_fleet()',
]
