import type { EvmPolicies, EvmRequest } from './evm/content.ts'
import type { SolanaPolicies, SolanaRequest } from './solana/content.ts'
import type { StellarPolicies, StellarRequest } from './stellar/content.ts'

/** The request of any chain. */
export type ChainRequest = EvmRequest | StellarRequest | SolanaRequest

/** The rules of a relayer of any chain. */
export type Policies = EvmPolicies | StellarPolicies | SolanaPolicies

/** The account on whose behalf the caller asks. */
export interface Account<P extends Policies = Policies> {
  readonly address: string
  readonly policies: P
}
