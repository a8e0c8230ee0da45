import { type Kysely, sql } from 'kysely'

/**
 * Relayers with several accounts. Each further account is a row of `relayers` of its own, whose id is that of the relayer, a slash and the
 * address, so that queue, nonces, health and money of every account are those of a relayer. A lane keeps transactions on one account.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** The columns whose change every process must hear of. */
const ANNOUNCED = `name, network, network_type, address, signer_id, notification_id, paused, policies, custom_rpc_urls, channels, accounts,
  account_index, draining, removed_at`

const STATEMENTS: readonly string[] = [
  // [{"signerId": …, "count": …}]; null for a relayer that never had further accounts.
  'alter table relayers add column accounts jsonb',
  // A further account of a signer with many, by its distance from the first one.
  'alter table relayers add column account_index integer',
  // It takes no new work, and is removed when nothing of it is open or watched.
  'alter table relayers add column draining boolean not null default false',
  // The relayer that callers know: the id itself, but for further accounts.
  "alter table relayers add column pool_id text not null generated always as (split_part(id, '/', 1)) stored",
  'create index relayers_of_pool on relayers (pool_id)',
  'create index relayers_draining on relayers (pool_id) where draining and removed_at is null',
  'drop trigger announce_relayers on relayers',
  `create trigger announce_relayers after insert or update of ${ANNOUNCED}
    on relayers for each statement execute function announce_relayers()`,
  'drop trigger announce_relayer_rows on relayers',
  `create trigger announce_relayer_rows after delete or update of id, system_disabled, disabled_reason, ${ANNOUNCED}
    on relayers for each statement execute function announce_relayer_rows()`,

  // Pending transactions by sender, who take turns where the policy fair_share says so.
  `create index transactions_by_sender on transactions (relayer_id, coalesce(requested_by, ''), position)
    where phase = 'pending' and nonce is null`,
  // Open transactions of a lane of a relayer are all of one account.
  'alter table transactions add column lane text',
  "create index transactions_lane on transactions (lane, position) where lane is not null and phase in ('pending', 'signed')",
]
