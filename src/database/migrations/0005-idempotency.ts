import { type Kysely, sql } from 'kysely'

/** Adds idempotency keys. `database/schema.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table idempotency_keys (
    relayer_id text not null references relayers (id),
    key text not null,
    fingerprint text not null,
    transaction_id text not null references transactions (id) on delete cascade,
    created_at timestamptz not null default now(),
    primary key (relayer_id, key)
  )`,
  // This index serves the deletion of transactions.
  'create index idempotency_keys_of_transaction on idempotency_keys (transaction_id)',
]
