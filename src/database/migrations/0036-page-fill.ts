import { type Kysely, sql } from 'kysely'

/**
 * Fills pages according to how their rows are written. A step gives all rows of a page a new version before the old ones can be removed, so
 * half of a page of transactions stays free for them; less room costs index entries in the log. An attempt is written once, so its pages are
 * full. Both concern new pages.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table transactions set (fillfactor = 50)',
  'alter table attempts set (fillfactor = 100)',
]
