import type { Selectable } from 'kysely'
import type { Db, NetworkUrlsTable, Tx } from '../database/schema.ts'
import { type NetworkType, parseNetworkType, type RpcUrl } from './network.ts'

/** The RPC urls that a caller chose for a network. */
export interface UntrustedUrls {
  readonly type: NetworkType
  readonly name: string
  readonly rpcUrls: readonly RpcUrl[]
  /** The fingerprint of the configured urls that these replaced. */
  readonly insteadOf: string
}

/** Reads the urls that callers chose for any network. */
export async function listUntrustedUrls(db: Db): Promise<UntrustedUrls[]> {
  const rows = await db.selectFrom('network_urls').selectAll().execute()
  return rows.map(toUntrusted)
}

/** Replaces the urls that a caller has chosen for the network before, and returns those; undefined for none. */
export async function saveUntrustedUrls(
  tx: Tx,
  untrusted: UntrustedUrls,
): Promise<UntrustedUrls | undefined> {
  const earlier = await tx
    .selectFrom('network_urls')
    .selectAll()
    .where('network_type', '=', untrusted.type)
    .where('network', '=', untrusted.name)
    .forUpdate()
    .executeTakeFirst()
  const values = { rpc_urls: JSON.stringify(untrusted.rpcUrls), instead_of: untrusted.insteadOf }
  await tx
    .insertInto('network_urls')
    .values({ network_type: untrusted.type, network: untrusted.name, ...values })
    .onConflict((conflict) => conflict.columns(['network_type', 'network']).doUpdateSet(values))
    .execute()
  return earlier && toUntrusted(earlier)
}

function toUntrusted(row: Selectable<NetworkUrlsTable>): UntrustedUrls {
  return {
    type: parseNetworkType(row.network_type),
    name: row.network,
    rpcUrls: row.rpc_urls,
    insteadOf: row.instead_of,
  }
}
