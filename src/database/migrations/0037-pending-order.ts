import { type Kysely, sql } from 'kysely'

/**
 * Adds indexes of the pending transactions that come before all others of their account: those with a nonce, and setup transactions. There are
 * few of them, and a step that looks for them reads no other transaction, however many wait.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  "create index transactions_resumed on transactions (relayer_id, nonce) where phase = 'pending' and nonce is not null",
  "create index transactions_setup on transactions (relayer_id, position) where phase = 'pending' and purpose = 'setup'",
]
