/** The families of chains. Every table and every `switch` over them fails to compile until it knows a new one. */
export const NETWORK_TYPES = ['evm', 'solana', 'stellar'] as const

/** The family of a chain. It decides which group of the request body applies. */
export type NetworkType = (typeof NETWORK_TYPES)[number]

export function isNetworkType(text: string): text is NetworkType {
  return NETWORK_TYPES.some((type) => type === text)
}

/** @throws Error for a type that this release does not know */
export function parseNetworkType(text: string): NetworkType {
  if (isNetworkType(text)) return text
  throw new Error(`network type "${text}" is unknown; this release knows ${NETWORK_TYPES.join(', ')}`)
}

/**
 * One RPC url. Each gets the share of the questions that its weight is of all; weight 0 is never asked. `ws://` and `wss://`
 * urls are not asked: over them the network tells of new blocks.
 */
export interface RpcUrl {
  readonly url: string
  readonly weight: number
  /** A caller of the API chose it: it is asked only where callers may lead us. */
  readonly untrusted?: true
}

/** What every network has. */
interface AnyNetwork {
  /** The name that relayers refer to, unique within its type. */
  readonly name: string
  readonly isTestnet: boolean
  /** Expected time between blocks. It sets the polling interval and the delay of resubmissions. */
  readonly averageBlocktimeMs: number
  /** How many blocks must lie on top of the including block before a transaction counts as final. */
  readonly requiredConfirmations: number
  readonly rpcUrls: readonly RpcUrl[]
  /** Where people can look at it; absent when nobody says. */
  readonly explorerUrls?: readonly string[]
  /** What is particular about it, in the words of the configuration; absent when it has none. */
  readonly tags?: readonly string[]
}

/** What an EVM network can do. `eip1559`: blocks have a base fee and accept type-2 transactions. */
export type NetworkFeature = 'eip1559'

/**
 * When a block of an EVM chain counts as final. `depth`: enough blocks lie on top of it · `safe`, `finalized`: the consensus layer says so
 * (block tags of the Ethereum JSON-RPC specification); on rollups, when its data is on the parent chain, and when that is final there.
 */
export type EvmFinality = 'depth' | 'safe' | 'finalized'

/** One concrete EVM chain and how to reach it. */
export interface EvmNetwork extends AnyNetwork {
  readonly type: 'evm'
  readonly chainId: number
  readonly symbol: string
  readonly features: readonly NetworkFeature[]
  readonly finality: EvmFinality
  /**
   * Whether waiting transactions lie in a public pool where a higher fee helps. A sequencer (Arbitrum, OP stack) takes
   * what pays its base fee in the order of arrival, so a raise is of use only when the base fee has passed the fee cap.
   */
  readonly mempool: boolean
  /** The most gas that one transaction may ask for (EIP-7825); absent where only the block's limit counts. */
  readonly maxGasPerTransaction?: bigint
}

/** One concrete Stellar network. What a ledger includes is final when the ledger is closed, so nothing need lie on top. */
export interface StellarNetwork extends AnyNetwork {
  readonly type: 'stellar'
  /** Distinguishes networks in everything that is signed, e.g. `Test SDF Network ; September 2015`. */
  readonly passphrase: string
}

/** One concrete Solana cluster. Its nodes tell themselves what is final, so nothing need lie on top. */
export interface SolanaNetwork extends AnyNetwork {
  readonly type: 'solana'
  /** Distinguishes clusters; absent where any will do, as on a developer's own machine. Base58. */
  readonly genesisHash?: string
}

/** One concrete network of any family. */
export type Network = EvmNetwork | StellarNetwork | SolanaNetwork

/** One concrete network of this family. */
export type NetworkOf<T extends NetworkType> = Extract<Network, { readonly type: T }>
