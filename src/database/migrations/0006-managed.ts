import { type Kysely, sql } from 'kysely'

/**
 * Records that callers create beside those of the configuration file. What is here already was the file's. Comments on
 * columns stand in `database/schema.ts`.
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
  // Unlike any fingerprint: the first start with this release applies them once more.
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
  // I2: two relayers that number the same account would take each other's nonces.
  `create table operated_accounts (
    chain text not null,
    address text not null,
    relayer_id text not null references relayers (id),
    primary key (chain, address)
  )`,
  'create index operated_accounts_of on operated_accounts (relayer_id)',
  // When a relayer's last one was.
  "create index transactions_confirmed on transactions (relayer_id, confirmed_at) where status = 'confirmed'",
  // Triggers, so that no writer can forget to tell the processes that hold copies. They fire on commit.
  `create function announce_fleet() returns trigger language plpgsql as $$
    begin
      perform pg_notify('fleet_changed', '');
      return null;
    end $$`,
  'create trigger announce_fleet after insert or update on relayers for each statement execute function announce_fleet()',
  'create trigger announce_fleet after insert or update or delete on network_urls for each statement execute function announce_fleet()',
]
