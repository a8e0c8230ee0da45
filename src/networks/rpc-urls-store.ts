import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
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
export async function listUntrustedUrls(db: Kysely<Schema>): Promise<UntrustedUrls[]> {
  const rows = await db.selectFrom('network_urls').selectAll().execute()
  return rows.map((row) => ({
    type: parseNetworkType(row.network_type),
    name: row.network,
    rpcUrls: row.rpc_urls,
    insteadOf: row.instead_of,
  }))
}

/** Replaces the urls that a caller has chosen for the network before. */
export async function saveUntrustedUrls(db: Kysely<Schema>, untrusted: UntrustedUrls): Promise<void> {
  const values = { rpc_urls: JSON.stringify(untrusted.rpcUrls), instead_of: untrusted.insteadOf }
  await db
    .insertInto('network_urls')
    .values({ network_type: untrusted.type, network: untrusted.name, ...values })
    .onConflict((conflict) => conflict.columns(['network_type', 'network']).doUpdateSet(values))
    .execute()
}
