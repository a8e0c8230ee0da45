import { type Kysely, sql } from 'kysely'

/** Adds the API key that registered an ABI: what a sender wrote itself does not explain a transaction to whoever approves it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table contract_interfaces add column registered_by text`.execute(db)
}
