import { assertNever } from '../lib/exhaustive.ts'

/**
 * The families of chains. Every table and every `switch` over them fails to compile until it knows a new one.
 */
export const NETWORK_TYPES = ['evm', 'solana', 'stellar'] as const

/** The family of a chain. It decides which group of the request body applies. */
export type NetworkType = (typeof NETWORK_TYPES)[number]

/** Recognises the types that this release knows. */
export function isNetworkType(text: string): text is NetworkType {
  return NETWORK_TYPES.some((type) => type === text)
}

/** @throws Error for a type that this release does not know */
export function parseNetworkType(text: string): NetworkType {
  if (isNetworkType(text)) return text
  throw new Error(`network type "${text}" is unknown; this release knows ${NETWORK_TYPES.join(', ')}`)
}

/**
 * One RPC url. Each gets a share of the requests in proportion to its weight; a URL with weight 0 gets none.
 * URLs with `ws://` and `wss://` get none either: they only announce new blocks.
 */
export interface RpcUrl {
  readonly url: string
  readonly weight: number
  /** An API caller chose the URL, so the guarded HTTP client is used. */
  readonly untrusted?: true
}

/** The JSON-RPC methods by which private endpoints take signed bytes. */
export const PRIVATE_METHODS = ['eth_sendRawTransaction', 'eth_sendPrivateTransaction'] as const

/** An endpoint that only takes signed bytes and keeps them from the public pool. Nothing is read from it. */
export interface PrivateRpcUrl {
  readonly url: string
  readonly method: (typeof PRIVATE_METHODS)[number]
  /** An API caller chose the URL, so the guarded HTTP client is used. */
  readonly untrusted?: true
}

/** The fields that every network has. */
interface AnyNetwork {
  /** The name that relayers refer to, unique within its type. */
  readonly name: string
  readonly isTestnet: boolean
  /** Expected time between blocks. It sets the polling interval and the delay of resubmissions. */
  readonly averageBlocktimeMs: number
  /** A transaction is final when this many blocks lie on top of the including block. */
  readonly requiredConfirmations: number
  readonly rpcUrls: readonly RpcUrl[]
  /** Block explorers for people. */
  readonly explorerUrls?: readonly string[]
  /**
   * RPC methods, besides those that read, that callers may let relayers forward to the network's own
   * endpoints.
   */
  readonly extraRpcMethods?: readonly string[]
  /** Traits, in the words of the configuration. */
  readonly tags?: readonly string[]
  /** The tokens that the operator names; each address once. */
  readonly tokens?: readonly Token[]
}

/** An asset as people know it. */
export interface NamedAsset {
  readonly symbol: string
  /** The number of digits after the point of one whole unit. */
  readonly decimals: number
}

/** A token that the operator of the service knows. */
export interface Token extends NamedAsset {
  /** As rules and budgets name it: on EVM the address in lower case. */
  readonly address: string
}

/** A feature of an EVM network. `eip1559`: blocks have a base fee and accept type-2 transactions. */
export type NetworkFeature = 'eip1559'

/**
 * The rule that makes a block of an EVM chain final. `depth`: enough blocks lie on top of it · `safe`,
 * `finalized`: the consensus layer says so (block tags of the Ethereum JSON-RPC specification); on rollups,
 * when its data is on the parent chain, and when that is final there.
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
   * True if waiting transactions are in a public pool, whose nodes return the pending nonce of an account.
   */
  readonly mempool: boolean
  /**
   * The OP stack: fees for data on the parent chain, and for its operator, come on top of the fee of the gas.
   * Its sequencer keeps no public pool, and takes the highest tips first.
   */
  readonly opStack?: true
  /** The endpoints for private transactions. If there are none, private transactions wait. */
  readonly privateRpcUrls?: readonly PrivateRpcUrl[]
  /**
   * The most that one transaction may cost in fees, in wei, unless a policy says otherwise (geth's
   * `--rpc.txfeecap`).
   */
  readonly txFeeCap: bigint
  /** The lowest tip that every pool of the network accepts, in wei per gas. If absent, none is known. */
  readonly minPriorityFee?: bigint
  /** The maximum gas limit of a transaction (EIP-7825). If absent, only the block gas limit counts. */
  readonly maxGasPerTransaction?: bigint
}

/**
 * One concrete Stellar network. What a ledger includes is final when the ledger is closed, so nothing need
 * lie on top.
 */
export interface StellarNetwork extends AnyNetwork {
  readonly type: 'stellar'
  /** Distinguishes networks in everything that is signed, e.g. `Test SDF Network ; September 2015`. */
  readonly passphrase: string
}

/** One concrete Solana cluster. Its nodes report finality themselves, so nothing need lie on top. */
export interface SolanaNetwork extends AnyNetwork {
  readonly type: 'solana'
  /** Distinguishes clusters, in base58. A local cluster without the field may be any. */
  readonly genesisHash?: string
}

/** One concrete network of any family. */
export type Network = EvmNetwork | StellarNetwork | SolanaNetwork

type Networks = { readonly [T in NetworkType]: Extract<Network, { readonly type: T }> }

/** One concrete network of this family. */
export type NetworkOf<T extends NetworkType> = Networks[T]

/**
 * Returns true if a caller of the API chose one of the endpoints. Such an endpoint proves nothing against the
 * operator's.
 */
export function hasUntrustedEndpoints({ rpcUrls }: Pick<Network, 'rpcUrls'>): boolean {
  return rpcUrls.some(({ untrusted }) => untrusted)
}

/** Returns the private endpoints of a network; none on networks of other families. */
export function privateUrlsOf(network: Network): readonly PrivateRpcUrl[] {
  return (network.type === 'evm' && network.privateRpcUrls) || []
}

/** True if a network confirms no block that can still leave the chain, as far as its nodes tell. Pure. */
export function confirmsFinally(network: Network): boolean {
  return network.type !== 'evm' || network.finality === 'finalized'
}

/** Returns the id by which callers name a network. */
export function networkId({ type, name }: Pick<Network, 'type' | 'name'>): string {
  return `${type}:${name}`
}

/**
 * Returns true where higher tips are included first, so that a raise helps a transaction that was left out:
 * in public pools, and by sequencers of the OP stack. A Nitro sequencer takes every transaction that pays its
 * base fee in the order of arrival, so a raise helps only when the base fee has passed the fee cap.
 */
export function ordersByTip(network: Network): boolean {
  return network.type !== 'evm' || network.mempool || network.opStack === true
}

/** Returns the identity of a chain for people. Networks with other names can be the same chain. */
export function chainName(network: Network): string {
  switch (network.type) {
    case 'evm':
      return evmChainName(network.chainId)
    case 'stellar':
      return `"${network.passphrase}"`
    case 'solana':
      // Without a genesis hash, the name alone identifies the cluster.
      return `cluster ${network.genesisHash ?? network.name}`
    default:
      return assertNever(network)
  }
}

/** Returns the identity of an EVM chain. */
export function evmChainName(chainId: number | bigint): string {
  return `chain id ${chainId}`
}

/** The default block time of an EVM network: Ethereum's slot time. */
export const DEFAULT_BLOCKTIME_MS = 12_000

/** The default block time of a Stellar network: SCP closes a ledger in this time. */
export const DEFAULT_LEDGER_TIME_MS = 5_000

/** The default block time of a Solana network: a leader has this time for a slot. */
export const DEFAULT_SLOT_TIME_MS = 400

/**
 * Returns the number of blocks on top that make a transaction final: careful where money is real, quick on a
 * test network.
 */
export function defaultConfirmations(isTestnet: boolean): number {
  return isTestnet ? 1 : 12
}
