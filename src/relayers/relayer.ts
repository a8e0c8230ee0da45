import type { EvmPolicies } from '../chains/evm/content.ts'
import type { SolanaPolicies } from '../chains/solana/content.ts'
import type { StellarPolicies } from '../chains/stellar/content.ts'
import type { RpcUrl } from '../networks/network.ts'

/** Why the service itself switched a relayer off. */
export interface DisabledReason {
  readonly type:
    | 'RpcValidationFailed'
    | 'BalanceCheckFailed'
    /** EVM. */
    | 'NonceSyncFailed'
    /** Stellar. */
    | 'SequenceSyncFailed'
    /** More than one of these. */
    | 'Multiple'
  /** Sentences for people. */
  readonly details: string
}

/** What every relayer has. */
interface AnyRelayer {
  readonly id: string
  readonly name: string
  readonly network: string
  /** As its network writes it: EIP-55 on EVM, `G…` on Stellar, base58 on Solana. */
  readonly address: string
  readonly signerId: string
  readonly notificationId?: string
  /** Switched off by a person. */
  readonly paused: boolean
  /** Switched off by the service, with the reason in `disabledReason`. */
  readonly systemDisabled: boolean
  readonly disabledReason?: DisabledReason
  readonly customRpcUrls?: readonly RpcUrl[]
}

export interface EvmRelayer extends AnyRelayer {
  readonly networkType: 'evm'
  readonly policies: EvmPolicies
}

export interface StellarRelayer extends AnyRelayer {
  readonly networkType: 'stellar'
  readonly policies: StellarPolicies
  /** Further accounts that lend their sequence numbers: how many derived ones, or the signers that hold their keys. */
  readonly channels?: number | readonly string[]
}

export interface SolanaRelayer extends AnyRelayer {
  readonly networkType: 'solana'
  readonly policies: SolanaPolicies
}

/** An account that the service operates on one network, with a signer and rules. */
export type Relayer = EvmRelayer | StellarRelayer | SolanaRelayer
