import type { Kysely } from 'kysely'
import type { Answer } from '../chains/answer.ts'
import type { Schema } from '../database/schema.ts'
import type { NetworkDirectory } from '../networks/directory.ts'
import type { Network } from '../networks/network.ts'
import type { Relayer } from './relayer.ts'
import type { FindKey } from './source-accounts.ts'

/** What managing relayers needs to know of the rest of the service. */
export interface ManageDeps {
  readonly db: Kysely<Schema>
  readonly networks: NetworkDirectory
  readonly findKey: FindKey
  /** Asks the network's urls which chain they serve, for a few seconds at most. */
  readonly verify: (network: Network) => Promise<Answer<void>>
  /** Whether urls that callers choose may lead to private networks. */
  readonly allowPrivateUrls: boolean
  /** Checks the health of a relayer that was created or changed; gives it as it is afterwards. */
  readonly checked: (relayer: Relayer) => Promise<Relayer>
}

/** A relayer as it is now, and what the caller should know about it. */
export interface Managed {
  readonly relayer: Relayer
  readonly logs: readonly string[]
}
