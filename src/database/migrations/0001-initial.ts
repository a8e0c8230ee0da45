import { type Kysely, sql } from 'kysely'

/** Creates the tables of the first release. `database/schema.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table notifications (
    id text primary key,
    type text not null,
    url text not null,
    has_signing_key boolean not null,
    created_at timestamptz not null default now()
  )`,
  `create table relayers (
    id text primary key,
    name text not null,
    network text not null,
    network_type text not null,
    address text not null,
    signer_id text not null,
    notification_id text references notifications (id),
    paused boolean not null,
    system_disabled boolean not null default false,
    disabled_reason jsonb,
    policies jsonb not null,
    custom_rpc_urls jsonb,
    created_at timestamptz not null default now(),
    removed_at timestamptz
  )`,
  'create index relayers_listed on relayers (created_at, id) where removed_at is null',
  `create table accounts (
    relayer_id text primary key references relayers (id),
    next_nonce bigint
  )`,
  `create table transactions (
    id text primary key,
    position bigint generated always as identity,
    relayer_id text not null references relayers (id),
    network text not null,
    from_address text not null,
    status text not null,
    status_reason text,
    intent text not null,
    request jsonb not null,
    estimated_gas bigint,
    nonce bigint,
    version integer not null default 1,
    current_attempt integer,
    cost numeric(80, 0) not null default 0,
    block_number bigint,
    block_hash text,
    next_run_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    sent_at timestamptz,
    confirmed_at timestamptz
  )`,
  // I2: a nonce of an account belongs to one transaction.
  `create unique index transactions_nonce on transactions (relayer_id, network, from_address, nonce)
    where nonce is not null`,
  'create unique index transactions_listed on transactions (relayer_id, position)',
  'create index transactions_by_status on transactions (relayer_id, status, position)',
  // Queries of workers use this index. It stays small with a long history.
  `create index transactions_open on transactions (relayer_id, status, position)
    where status in ('pending', 'sent', 'submitted', 'mined')`,
  `create table attempts (
    transaction_id text not null references transactions (id),
    number integer not null,
    kind text not null,
    nonce bigint not null,
    hash text not null unique,
    raw bytea not null,
    draft jsonb not null,
    signature jsonb not null,
    outcome text not null,
    error text,
    signed_at timestamptz not null default now(),
    broadcast_at timestamptz,
    primary key (transaction_id, number)
  )`,
  `create table events (
    id bigint generated always as identity primary key,
    relayer_id text not null,
    transaction_id text,
    type text not null,
    payload jsonb not null,
    created_at timestamptz not null default now()
  )`,
  'create index events_of_transaction on events (transaction_id, id)',
  `create table leases (
    name text primary key,
    owner text not null,
    expires_at timestamptz not null,
    fence bigint not null
  )`,
]
