import type { NetworkFeature, NetworkType } from '../network.ts'

/** A well-known network in the format of the configuration file. */
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
  /** EVM: the lowest tip that the pools of the network accept, in wei per gas. */
  readonly min_priority_fee?: number
  readonly features?: readonly NetworkFeature[]
  /** EVM: `arbitrum-based` and `optimism-based` have a sequencer that keeps no public pool. */
  readonly tags?: readonly string[]
  /** Stellar. */
  readonly passphrase?: string
  /** Solana. */
  readonly genesis_hash?: string
}

/** The fields that entries of one kind have in common. */

/** Blocks have a base fee, and nodes a public pool. */
export const EIP1559 = { type: 'evm', features: ['eip1559'], tags: [] } as const

/** Blocks have no base fee, or wallets pay a single gas price by custom. */
export const LEGACY = { type: 'evm', features: [], tags: [] } as const

/** A Nitro sequencer includes transactions in the order of arrival. */
export const ARBITRUM_BASED = {
  type: 'evm',
  features: ['eip1559'],
  tags: ['arbitrum-based', 'no-mempool'],
} as const

/** The maximum gas limit of a transaction since the fork Osaka (EIP-7825): 2^24. */
export const OSAKA_MAX_GAS = 16_777_216

/**
 * A sequencer of the OP stack has a private pool, and takes the highest tips first (op-geth
 * `miner/worker.go`).
 */
export const OPTIMISM_BASED = { type: 'evm', features: ['eip1559'], tags: ['optimism-based'] } as const
