import { type Kysely, sql } from 'kysely'

/**
 * Leaves room in each page for the next versions of its rows. A version on the same page costs a small part of the log, and for attempts,
 * whose indexed columns do not change, no index entries.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table transactions set (fillfactor = 60)',
  'alter table attempts set (fillfactor = 60)',
]
