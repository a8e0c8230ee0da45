import type { NetworkFeature, NetworkType } from '../network.ts'

/** A well-known network in the words of the configuration file. */
export interface CatalogueEntry {
  readonly type: NetworkType
  readonly network: string
  readonly is_testnet: boolean
  readonly average_blocktime_ms: number
  /** Without a public endpoint the field is absent, and the file must name one. */
  readonly rpc_urls?: readonly string[]
  /** Block explorers for people. */
  readonly explorer_urls?: readonly string[]
  /** EVM: these four are there. */
  readonly chain_id?: number
  readonly symbol?: string
  readonly required_confirmations?: number
  readonly max_gas_per_transaction?: number
  readonly features?: readonly NetworkFeature[]
  /** EVM: `arbitrum-based` and `optimism-based` have a sequencer that keeps no public pool. */
  readonly tags?: readonly string[]
  /** Stellar. */
  readonly passphrase?: string
  /** Solana. */
  readonly genesis_hash?: string
}
