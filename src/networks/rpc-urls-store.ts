import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { type NetworkType, parseNetworkType, type RpcUrl } from './network.ts'

/** RPC urls that a caller gave a network. */
export interface UntrustedUrls {
  readonly type: NetworkType
  readonly name: string
  readonly rpcUrls: readonly RpcUrl[]
  /** Fingerprint of the urls that the configuration gave the network at that time. */
  readonly insteadOf: string
}

/** All that callers gave. */
export async function listUntrustedUrls(db: Kysely<Schema>): Promise<UntrustedUrls[]> {
  const rows = await db.selectFrom('network_urls').selectAll().execute()
  return rows.map((row) => ({
    type: parseNetworkType(row.network_type),
    name: row.network,
    rpcUrls: row.rpc_urls,
    insteadOf: row.instead_of,
  }))
}

/** Takes the place of what a caller gave the network before. */
export async function saveUntrustedUrls(db: Kysely<Schema>, given: UntrustedUrls): Promise<void> {
  const values = { rpc_urls: JSON.stringify(given.rpcUrls), instead_of: given.insteadOf }
  await db
    .insertInto('network_urls')
    .values({ network_type: given.type, network: given.name, ...values })
    .onConflict((conflict) => conflict.columns(['network_type', 'network']).doUpdateSet(values))
    .execute()
}
