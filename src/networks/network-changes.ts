import type { Kysely } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { listResets } from './chain-identity-store.ts'
import type { NetworkChanges } from './directory.ts'
import { listUntrustedUrls } from './rpc-urls-store.ts'

/** Reads the stored changes of networks. */
export async function readNetworkChanges(db: Kysely<Schema>): Promise<NetworkChanges> {
  const [untrusted, resets] = await Promise.all([listUntrustedUrls(db), listResets(db)])
  return { untrusted, resets }
}
