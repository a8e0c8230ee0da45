import { type Kysely, sql } from 'kysely'

/**
 * An idempotency key belongs to the API key that chose it. Keys from before, and those that no one chose, have an empty id and are found by all:
 * requests that are repeated across the upgrade find their transactions.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS: readonly string[] = [
  "alter table idempotency_keys add column api_key_id text not null default ''",
  'alter table idempotency_keys drop constraint idempotency_keys_pkey',
  'alter table idempotency_keys add primary key (relayer_id, key, api_key_id)',
]
