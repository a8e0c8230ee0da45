import { type Kysely, sql } from 'kysely'

/**
 * Counts for each attempt how often in a row nodes refused it in words that the service does not know, so that a restart does not begin to
 * count anew. A constant default rewrites no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table attempts add column refusals integer not null default 0`.execute(db)
}
