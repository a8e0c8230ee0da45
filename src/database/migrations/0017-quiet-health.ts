import { type Kysely, sql } from 'kysely'

/**
 * Announces no changes of the health of relayers: processes keep no copies of it, and with thousands of relayers each one would make every
 * process read all of them again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'drop trigger announce_relayers on relayers',
  `create trigger announce_relayers after insert or update of name, network, network_type, address, signer_id,
      notification_id, paused, policies, custom_rpc_urls, channels, removed_at
    on relayers for each statement execute function announce_relayers()`,
]
