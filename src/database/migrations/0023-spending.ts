import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  'alter table api_keys add column rules jsonb',
  'alter table transactions add column budgeted boolean not null default false',
  // A request that a limit is asked about locks the rows of its spenders, so that no two requests spend the same budget.
  'create table spenders (subject text primary key)',
  `create table spendings (
    transaction_id text not null,
    subject text not null,
    network text not null,
    asset text not null,
    at timestamptz not null,
    most_value numeric not null,
    most_fees numeric not null,
    value numeric not null,
    fees numeric not null,
    count integer not null,
    settled boolean not null default false,
    primary key (transaction_id, subject, asset)
  ) with (fillfactor = 80)`,
  'create index spendings_unsettled on spendings (transaction_id) where not settled',
  'create index spendings_by_time on spendings using brin (at)',
  // Nothing that changes at a request is in an index.
  `create table spent (
    subject text not null,
    network text not null,
    asset text not null,
    period text not null check (period in ('hour', 'day', 'month')),
    step timestamptz not null,
    value numeric not null,
    fees numeric not null,
    count integer not null,
    primary key (subject, network, asset, period, step)
  ) with (fillfactor = 50)`,
]

/** Adds rules for spending. `database/spending-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
