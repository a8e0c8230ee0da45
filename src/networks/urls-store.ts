import type { Selectable } from 'kysely'
import type { Db, Tx } from '../database/db.ts'
import type { NetworkPrivateUrlsTable, NetworkUrlsTable } from '../database/tables/relayers.ts'
import { type NetworkType, type PrivateRpcUrl, parseNetworkType, type RpcUrl } from './network.ts'

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
  return rows.map(toUntrustedUrls)
}

/**
 * Replaces the urls that a caller has chosen for the network before, and returns those; undefined for none.
 */
export async function saveUntrustedUrls(
  tx: Tx,
  untrusted: UntrustedUrls,
): Promise<UntrustedUrls | undefined> {
  // The order of locks: database/locks/lock-order.md.
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
  return earlier && toUntrustedUrls(earlier)
}

function toUntrustedUrls(row: Selectable<NetworkUrlsTable>): UntrustedUrls {
  return {
    type: parseNetworkType(row.network_type),
    name: row.network,
    rpcUrls: row.rpc_urls,
    insteadOf: row.instead_of,
  }
}

/** The private endpoints that a caller chose for a network. */
export interface UntrustedPrivateUrls {
  readonly type: NetworkType
  readonly name: string
  /** Empty if the caller removed them. */
  readonly privateRpcUrls: readonly PrivateRpcUrl[]
  /** The fingerprint of the configured private endpoints that these replaced. */
  readonly insteadOf: string
}

/** Reads the private endpoints that callers chose for any network. */
export async function listPrivateUrls(db: Db): Promise<UntrustedPrivateUrls[]> {
  const rows = await db.selectFrom('network_private_urls').selectAll().execute()
  return rows.map(toUntrustedPrivateUrls)
}

/** Replaces the private endpoints that a caller has chosen before, and returns those; undefined for none. */
export async function savePrivateUrls(
  tx: Tx,
  untrusted: UntrustedPrivateUrls,
): Promise<UntrustedPrivateUrls | undefined> {
  const earlier = await tx
    .selectFrom('network_private_urls')
    .selectAll()
    .where('network_type', '=', untrusted.type)
    .where('network', '=', untrusted.name)
    .forUpdate()
    .executeTakeFirst()
  const values = {
    private_rpc_urls: JSON.stringify(untrusted.privateRpcUrls),
    instead_of: untrusted.insteadOf,
  }
  await tx
    .insertInto('network_private_urls')
    .values({ network_type: untrusted.type, network: untrusted.name, ...values })
    .onConflict((conflict) => conflict.columns(['network_type', 'network']).doUpdateSet(values))
    .execute()
  return earlier && toUntrustedPrivateUrls(earlier)
}

function toUntrustedPrivateUrls(row: Selectable<NetworkPrivateUrlsTable>): UntrustedPrivateUrls {
  return {
    type: parseNetworkType(row.network_type),
    name: row.network,
    privateRpcUrls: row.private_rpc_urls,
    insteadOf: row.instead_of,
  }
}
