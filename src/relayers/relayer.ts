import type { EvmPolicies } from '../chains/chain.ts'
import type { NetworkType, RpcUrl } from '../networks/network.ts'

/** Why the service itself switched a relayer off. */
export interface DisabledReason {
  readonly type: 'NonceSyncFailed' | 'RpcValidationFailed' | 'BalanceCheckFailed'
  readonly details: string
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
