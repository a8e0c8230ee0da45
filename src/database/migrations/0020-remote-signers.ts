import { type Kysely, sql } from 'kysely'

/** Adds what signers outside this process need: their visible configuration, and their public keys as this service first saw them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table signers add column config jsonb, add column public_keys jsonb').execute(db)
}
