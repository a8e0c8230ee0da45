import { type Kysely, sql } from 'kysely'

/**
 * Shortens what the log gets for a transaction, by two changes.
 *
 * The columns of transactions that change move behind those that do not, in the order of their last change. PostgreSQL logs a new version of a
 * row without the leading bytes that it shares with the version before it, so the log has the content of a request once instead of five
 * times. PostgreSQL cannot move columns, so the table is copied; it needs room for both until the migration is committed.
 *
 * The events of a transaction are found by the hash of its id, because nothing but equality is asked, and ids of 36 characters made this the
 * largest index of all.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** All columns but `phase`, which the database computes, in their new order, with their definitions. */
const COLUMNS: readonly (readonly [name: string, definition: string])[] = [
  ['position', 'bigint generated always as identity'],
  ['created_at', 'timestamptz not null default now()'],
  ['id', 'text not null'],
  ['relayer_id', 'text not null'],
  ['network', 'text not null'],
  ['from_address', 'text not null'],
  ['requested_by', 'text'],
  ['top_up_of', 'text'],
  ['trace_parent', 'text'],
  // A replacement changes these, and nothing else does.
  ['request', 'jsonb not null'],
  ['valid_from', 'timestamptz'],
  ['estimated_gas', 'bigint'],
  ['purpose', 'text not null'],
  ['budgeted', 'boolean not null default false'],
  ['private', 'boolean'],
  // The signature.
  ['source_account', 'text'],
  ['nonce', 'bigint'],
  ['current_attempt', 'integer'],
  // The broadcast.
  ['accepted_attempt', 'integer'],
  ['sent_at', 'timestamptz'],
  ['private_since_block', 'bigint'],
  ['made_public_at', 'timestamptz'],
  // The inclusion.
  ['next_run_at', 'timestamptz not null default now()'],
  ['cost', 'numeric(80, 0) not null default 0'],
  ['block_number', 'bigint'],
  ['block_hash', 'text'],
  ['included_outcome', 'text'],
  ['included_result', 'jsonb'],
  // Every step.
  ['confirmed_at', 'timestamptz'],
  ['version', 'integer not null default 1'],
  ['status', 'text not null'],
  ['status_reason', 'text'],
  ['awaits_approval', 'boolean'],
  ['undecided_since', 'timestamptz'],
  ['stuck_since', 'timestamptz'],
  ['reorganized_at', 'timestamptz'],
  ['reset_at', 'timestamptz'],
]

const NAMES = COLUMNS.map(([name]) => name).join(', ')

/** The tables that refer to a transaction, and what happens to their rows when it is deleted. */
const REFERRING: readonly (readonly [table: string, action: string])[] = [
  ['approvals', 'on delete cascade'],
  ['attempts', ''],
  ['idempotency_keys', 'on delete cascade'],
  ['operator_decisions', ''],
]

const STATEMENTS = [
  `create table moved (${COLUMNS.map((column) => column.join(' ')).join(', ')},
    phase text not null
      generated always as (case when status in ('sent', 'submitted', 'mined') then 'signed' else status end) stored)
    with (fillfactor = 60)`,
  `insert into moved (${NAMES}) overriding system value select ${NAMES} from transactions order by position`,
  "select setval('moved_position_seq', last_value, is_called) from transactions_position_seq",
  ...REFERRING.map(([table]) => `alter table ${table} drop constraint ${table}_transaction_id_fkey`),
  'drop table transactions',
  'alter table moved rename to transactions',
  'alter sequence moved_position_seq rename to transactions_position_seq',
  `alter table transactions
    add constraint transactions_pkey primary key (id),
    add constraint transactions_relayer_id_fkey foreign key (relayer_id) references relayers (id),
    add constraint transactions_check check (awaits_approval is null or (awaits_approval and status = 'pending')),
    add constraint transactions_included_outcome_check check (included_outcome in ('mined', 'reverted')),
    add constraint transactions_purpose
      check (purpose in ('request', 'successor', 'cancel', 'expire', 'abandon', 'gap_filler', 'setup')),
    add constraint transactions_source_account check (nonce is null or source_account is not null),
    add constraint transactions_status check (
      status in ('pending', 'sent', 'submitted', 'mined', 'confirmed', 'failed', 'canceled', 'expired'))`,
  ...REFERRING.map(
    ([table, action]) => `alter table ${table} add constraint ${table}_transaction_id_fkey
      foreign key (transaction_id) references transactions (id) ${action}`,
  ),
  'create unique index transactions_listed on transactions (relayer_id, position)',
  // I2: a nonce of an account belongs to one transaction.
  `create unique index transactions_nonce on transactions (relayer_id, network, source_account, nonce)
    where nonce is not null and reset_at is null`,
  `create index transactions_open on transactions (relayer_id, phase, position) where phase in ('pending', 'signed')`,
  "create index transactions_final on transactions (relayer_id, phase, position) where phase not in ('pending', 'signed')",
  'create index transactions_awaiting on transactions (relayer_id) where awaits_approval',
  'create index transactions_ended on transactions (relayer_id, confirmed_at) where confirmed_at is not null',
  'create index transactions_by_confirmation on transactions using brin (confirmed_at) with (pages_per_range = 32)',
  'create index transactions_reorganized on transactions (relayer_id) where reorganized_at is not null',
  'create index transactions_stuck on transactions (stuck_since) where stuck_since is not null',
  'create index transactions_top_ups on transactions (top_up_of, position) where top_up_of is not null',
  'create index transactions_undecided on transactions (undecided_since) where undecided_since is not null',
  'drop index events_of_transaction',
  'create index events_of_transaction on events using hash (transaction_id)',
  // The copy has no statistics, and without them plans are guesses.
  'analyze transactions',
]
