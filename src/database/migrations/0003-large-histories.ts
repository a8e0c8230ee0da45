import { type Kysely, sql } from 'kysely'

/** Indexes for what would read millions of rows to find a few, or none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS: readonly string[] = [
  // The newest setup transaction is read in any phase.
  'drop index transactions_setup',
  "create index transactions_setup on transactions (relayer_id, position) where purpose = 'setup'",
  // Nearly all events are of one type, and are found without an index of types.
  "create index events_of_rare_type on events (type, number) where type <> 'transaction_update'",
]
