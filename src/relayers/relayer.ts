import type { EvmPolicies } from '../chains/evm/content.ts'
import type { SolanaPolicies } from '../chains/solana/content.ts'
import type { StellarPolicies } from '../chains/stellar/content.ts'
import { id, type Reader, whole } from '../lib/fields.ts'
import { type NetworkType, networkId, type RpcUrl } from '../networks/network.ts'
import type { SpendingRules } from '../spending/rules.ts'

/** The types of reasons for which the service itself disables a relayer. */
export const DISABLED_REASONS = [
  'RpcValidationFailed',
  'BalanceCheckFailed',
  /** EVM. */
  'NonceSyncFailed',
  /** Stellar. */
  'SequenceSyncFailed',
  /** The key service refuses to sign, or has another key. */
  'SignerCheckFailed',
  'UnexplainedNonces',
  /** Solana. */
  'UnexplainedTransactions',
  /** More than one of these. */
  'Multiple',
] as const

/** The reason for which the service itself disabled a relayer. */
export interface DisabledReason {
  readonly type: (typeof DISABLED_REASONS)[number]
  /** Sentences for people. */
  readonly details: string
}

/** A number of accounts of a signer: the account of the signer itself, and those at the indexes after it. */
export interface AccountSource {
  readonly signerId: string
  readonly count: number
}

/** The configuration that every relayer has. */
interface AnyRelayerConfig {
  readonly id: string
  readonly name: string
  readonly network: string
  readonly signerId: string
  readonly notificationId?: string
  /** Set by a person; a paused relayer signs nothing. */
  readonly paused: boolean
  /** Replaces the network's own urls when present; never empty. */
  readonly customRpcUrls?: readonly RpcUrl[]
  /** The accounts that share its work, its own first. Absent for a relayer that never had further ones. */
  readonly accounts?: readonly AccountSource[] | undefined
  /** The distance of a further account from the first account of its signer. Absent if it is that one. */
  readonly accountIndex?: number | undefined
}

/** The policy of every network type that the service itself applies. */
interface SpendingPolicy {
  /** The rules for what the relayer may spend. Default: none. */
  readonly rules?: SpendingRules
  /** Another relayer refills the account when its balance is low. Default: none. */
  readonly topUp?: TopUp
}

/** The policy about the account, which every network type has. */
interface SharedAccountPolicy {
  /**
   * `true`: other programs also send from the account, so that unexplained nonces and transactions do not
   * stop the relayer. Default false.
   */
  readonly sharedAccount?: boolean
}

/** The policies about the queue, which every network type has. */
interface QueuePolicy {
  /** `true`: the API keys of waiting transactions take turns. Default false: the order of acceptance. */
  readonly fairShare?: boolean
  /**
   * The longest time in seconds that a new transaction may have to wait for its turn; otherwise it is
   * refused. Default: none.
   */
  readonly maxQueueSeconds?: number
}

/** The configuration of a relayer on an EVM network. */
export interface EvmRelayerConfig extends AnyRelayerConfig {
  readonly networkType: 'evm'
  readonly policies: EvmPolicies & SpendingPolicy & SharedAccountPolicy & QueuePolicy
}

/** The configuration of a relayer on a Stellar network. */
export interface StellarRelayerConfig extends AnyRelayerConfig {
  readonly networkType: 'stellar'
  readonly policies: StellarPolicies & SpendingPolicy & SharedAccountPolicy & QueuePolicy
  /**
   * Further accounts that lend their sequence numbers: a count of derived ones, or the signers that hold
   * their keys.
   */
  readonly channels?: number | readonly string[]
}

/** The configuration of a relayer on a Solana network. */
export interface SolanaRelayerConfig extends AnyRelayerConfig {
  readonly networkType: 'solana'
  readonly policies: SolanaPolicies & SpendingPolicy & SharedAccountPolicy & QueuePolicy
}

/** The part of a relayer that the configuration file, or a caller, decides. */
export type RelayerConfig = EvmRelayerConfig | StellarRelayerConfig | SolanaRelayerConfig

/** The configuration of a relayer on networks of one type. */
export type RelayerConfigOf<T extends NetworkType> = Extract<RelayerConfig, { readonly networkType: T }>

/** The part of a relayer that the service decides. */
interface RelayerState {
  /** The address in the form of its network: EIP-55 on EVM, `G…` on Stellar, base58 on Solana. */
  readonly address: string
  /** Set by the service, with the reason in `disabledReason`. */
  readonly systemDisabled: boolean
  readonly disabledReason?: DisabledReason
  /** True for a further account that leaves: it takes no new work. */
  readonly draining?: boolean | undefined
}

/** A relayer on an EVM network. */
export interface EvmRelayer extends EvmRelayerConfig, RelayerState {}
/** A relayer on a Stellar network. */
interface StellarRelayer extends StellarRelayerConfig, RelayerState {}
/** A relayer on a Solana network. */
interface SolanaRelayer extends SolanaRelayerConfig, RelayerState {}

/** An account that the service operates on one network, with a signer and policies. */
export type Relayer = EvmRelayer | StellarRelayer | SolanaRelayer

/** A relayer on networks of one type. */
export type RelayerOf<T extends NetworkType> = Extract<Relayer, { readonly networkType: T }>

/** Returns the id of the network that a relayer is on. */
export function networkOf({
  networkType: type,
  network: name,
}: Pick<RelayerConfig, 'networkType' | 'network'>): string {
  return networkId({ type, name })
}

/**
 * The channel accounts of a relayer: a count of derived ones, or the ids of the signers that hold their keys.
 */
type Channels = number | readonly string[]

/**
 * More channels are of no use: an account has at most a thousand other entries, and one transaction creates
 * at most a hundred.
 */
const MAX_CHANNELS = 100

/** Returns the channels of a relayer; 0 where it has none, as on every network type without channels. */
export function channelsOf(relayer: RelayerConfig): Channels {
  return ('channels' in relayer ? relayer.channels : undefined) ?? 0
}

/**
 * Returns the signers that a relayer names: its own first, then those of its channels and further accounts.
 */
export function signersOf(relayer: RelayerConfig): readonly string[] {
  const channels = channelsOf(relayer)
  const further = relayer.accounts?.slice(1).map(({ signerId }) => signerId) ?? []
  return [relayer.signerId, ...(typeof channels === 'number' ? [] : channels), ...further]
}

/** Reads the field `channels` of a relayer document. */
export function readChannels(relayer: Reader): Channels | undefined {
  if (!Array.isArray(relayer.raw('channels'))) return relayer.find('channels', whole(0, MAX_CHANNELS))
  const signers = relayer.list('channels', id)
  if (signers.length > MAX_CHANNELS) relayer.problem(`has more than ${MAX_CHANNELS} "channels"`)
  return signers
}

/** @throws Error if the stored value is neither a count nor a list of signers */
export function parseChannels(stored: unknown): Channels {
  if (typeof stored === 'number') return stored
  if (Array.isArray(stored) && stored.every((signer) => typeof signer === 'string')) return stored
  throw new Error(`stored channels are neither a number nor a list of signers: ${JSON.stringify(stored)}`)
}

/**
 * The rule by which another relayer fills the account. The names are those of the contract, because the rule
 * is stored, shown and compared as it is. Amounts are in the smallest unit of the network.
 */
export interface TopUp {
  /** The id of the treasury: the relayer that pays. */
  readonly from: string
  /** The spendable balance below which it pays. */
  readonly below: bigint
  /** The spendable balance that it restores. */
  readonly to: bigint
  /** The most that it pays within 24 hours. */
  readonly max_per_day: bigint
}
