import type { NetworkType, RpcUrl } from '../networks/network.ts'

/** Why the service itself switched a relayer off. */
export interface DisabledReason {
  readonly type: 'NonceSyncFailed' | 'RpcValidationFailed' | 'BalanceCheckFailed'
  readonly details: string
}

/** The rules of an EVM relayer, as configured; an absent rule has the default of the contract. */
export interface EvmPolicies {
  /** `false` forces legacy pricing. Default: whether the network has the feature `eip1559`. */
  readonly eip1559Pricing?: boolean
  /** `false`: every request must bring its own `gas_limit`. Default true. */
  readonly gasLimitEstimation?: boolean
  /** The most that one unit of gas may cost, in wei. Default: no cap. */
  readonly gasPriceCap?: bigint
  /** What must stay on the account after everything in flight is paid, in wei. Default 1. */
  readonly minBalance?: bigint
  readonly privateTransactions?: boolean
  /** Lower-case addresses that may receive. Default: any. */
  readonly whitelistReceivers?: readonly string[]
}

/** An account that the service operates on one network, with a signer and rules. */
export interface Relayer {
  readonly id: string
  readonly name: string
  readonly network: string
  readonly networkType: NetworkType
  /** EIP-55 checksummed. */
  readonly address: string
  readonly signerId: string
  readonly notificationId?: string
  /** Switched off by a person. */
  readonly paused: boolean
  /** Switched off by the service, with the reason in `disabledReason`. */
  readonly systemDisabled: boolean
  readonly disabledReason?: DisabledReason
  readonly customRpcUrls?: readonly RpcUrl[]
  readonly policies: EvmPolicies
}
