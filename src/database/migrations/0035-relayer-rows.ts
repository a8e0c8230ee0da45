import { type Kysely, sql } from 'kysely'

/** Announces every change of a relayer that requests depend on, its health included, to the process that keeps copies for them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create function announce_relayer_rows() returns trigger language plpgsql as $$
    begin
      perform pg_notify('relayer_rows_changed', '');
      return null;
    end $$`,
  // All columns but the number of failed checks, which changes often and of which there are no copies.
  `create trigger announce_relayer_rows after delete or update of id, name, network, network_type, address, signer_id, notification_id,
      paused, system_disabled, disabled_reason, policies, custom_rpc_urls, channels, removed_at
    on relayers for each statement execute function announce_relayer_rows()`,
]
