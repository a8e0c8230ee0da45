import type { Selectable } from 'kysely'
import type { Db, NetworkPrivateUrlsTable, Tx } from '../database/schema.ts'
import { type NetworkType, type PrivateRpcUrl, parseNetworkType } from './network.ts'

/** The private endpoints that a caller chose for a network. */
export interface UntrustedPrivateUrls {
  readonly type: NetworkType
  readonly name: string
  /** Empty when the caller removed them. */
  readonly privateRpcUrls: readonly PrivateRpcUrl[]
  /** The fingerprint of the configured private endpoints that these replaced. */
  readonly insteadOf: string
}

/** Reads the private endpoints that callers chose for any network. */
export async function listPrivateUrls(db: Db): Promise<UntrustedPrivateUrls[]> {
  const rows = await db.selectFrom('network_private_urls').selectAll().execute()
  return rows.map(toUntrusted)
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
  return earlier && toUntrusted(earlier)
}

function toUntrusted(row: Selectable<NetworkPrivateUrlsTable>): UntrustedPrivateUrls {
  return {
    type: parseNetworkType(row.network_type),
    name: row.network,
    privateRpcUrls: row.private_rpc_urls,
    insteadOf: row.instead_of,
  }
}
