import { type Selectable, sql } from 'kysely'
import type { Db, RelayersTable } from '../database/schema.ts'
import { networkId, parseNetworkType } from '../networks/network.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { toRelayer } from '../relayers/relayer-codec.ts'
import type { SpendingRules } from '../spending/rules.ts'
import { decodeRules } from '../spending/stored-rules.ts'
import type { StuckTransaction } from './stuck-transactions.ts'

/** Reads the relayers that are disabled, or have a `warn_balance` or spending limits. The condition is that of the index. */
export async function findAlertingRelayers(db: Db): Promise<Relayer[]> {
  const { rows } = await sql<Selectable<RelayersTable>>`
    select * from relayers
    where removed_at is null and (system_disabled or policies ? 'warnBalance' or policies -> 'rules' ? 'limits')
    order by id`.execute(db)
  return rows.map(toRelayer)
}

/** Reads the transactions that block the accounts of present relayers. */
export async function readStuckTransactions(db: Db): Promise<StuckTransaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .innerJoin('relayers', 'relayers.id', 'transactions.relayer_id')
    .select([
      'transactions.id',
      'transactions.relayer_id',
      'transactions.stuck_since',
      'relayers.network_type',
      'relayers.network',
      'relayers.notification_id',
    ])
    .where('transactions.stuck_since', 'is not', null)
    .where('transactions.status', 'in', ['pending', 'sent', 'submitted'])
    .where('relayers.removed_at', 'is', null)
    .orderBy('transactions.stuck_since')
    .execute()
  return rows.flatMap((row) =>
    row.stuck_since === null
      ? []
      : {
          id: row.id,
          relayerId: row.relayer_id,
          network: networkId({ type: parseNetworkType(row.network_type), name: row.network }),
          notificationId: row.notification_id ?? undefined,
          since: row.stuck_since,
        },
  )
}

/** An API key with spending limits. */
export interface LimitedApiKey {
  readonly id: string
  /** The networks that it is limited to, by type and name. */
  readonly networks: readonly string[]
  readonly rules: SpendingRules
}

/** Reads the API keys that may be used and have spending limits. */
export async function findLimitedApiKeys(db: Db): Promise<LimitedApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'networks', 'rules'])
    .where('deleted_at', 'is', null)
    .where('disabled', '=', false)
    .where(sql<boolean>`rules ? 'limits'`)
    .orderBy('id')
    .execute()
  return rows.map(({ id, networks, rules }) => ({ id, networks: networks ?? [], rules: decodeRules(rules) }))
}
