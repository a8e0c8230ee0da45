import { type Kysely, sql } from 'kysely'

/**
 * Remembers up to which nonce the records explain what an account has used on its chain. A database that was restored from a backup explains
 * less than the chain shows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column known_nonce bigint`.execute(db)
}
