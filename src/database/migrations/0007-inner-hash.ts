import { type Kysely, sql } from 'kysely'

/**
 * Adds the hash of the transaction inside a fee bump (Stellar, CAP-15). Existing rows keep null, because the hash depends on the passphrase of
 * the network, which is in the configuration. The chain computes it from `raw` where it is null.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table attempts add column inner_hash text').execute(db)
}
