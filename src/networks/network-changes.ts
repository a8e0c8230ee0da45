import type { Db } from '../database/schema.ts'
import { listResets } from './chain-identity-store.ts'
import type { NetworkChanges } from './directory.ts'
import { listPrivateUrls } from './private-urls-store.ts'
import { listUntrustedUrls } from './rpc-urls-store.ts'

/** Reads the stored changes of networks. */
export async function readNetworkChanges(db: Db): Promise<NetworkChanges> {
  const [untrusted, untrustedPrivate, resets] = await Promise.all([
    listUntrustedUrls(db),
    listPrivateUrls(db),
    listResets(db),
  ])
  return { untrusted, untrustedPrivate, resets }
}
