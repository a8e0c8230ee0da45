import { type Kysely, sql } from 'kysely'

/**
 * Adds the API key that requested a transaction, and an index for reports by the time of confirmation. The index is a summary of each 32
 * pages, which costs next to nothing at a write; reports are rare. `database/transaction-tables.ts` describes the column.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table transactions add column requested_by text',
  'create index transactions_by_confirmation on transactions using brin (confirmed_at) with (pages_per_range = 32)',
]
