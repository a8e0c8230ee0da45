import { type Kysely, sql } from 'kysely'

/** Adds the payments by which one relayer fills another. `database/top-up-tables.ts` and `transaction-tables.ts` describe the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table transactions add column top_up_of text',
  'create index transactions_top_ups on transactions (top_up_of, position) where top_up_of is not null',
  `create table top_ups (
    relayer_id text primary key references relayers (id),
    state text not null,
    code text,
    transaction_id text,
    failures integer not null default 0,
    retry_at timestamptz,
    changed_at timestamptz not null default now()
  )`,
]
