import { type Kysely, sql } from 'kysely'

/**
 * Remembers up to which transaction the records explain what an account without nonces has signed. Transactions that the service only signs are in
 * the audit log, which is searched for their bytes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column known_slot bigint, add column known_hash text`.execute(db)
  await sql`create index audit_log_signed_transactions on audit_log ((after->>'sha256')) where action = 'signTransaction'`.execute(
    db,
  )
}
