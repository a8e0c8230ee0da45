import type { Attempt, Prepared } from '../attempt.ts'
import type { ChainCapabilities } from '../capabilities.ts'
import type { ChainOf } from '../chain.ts'
import type { Account, UnsignedEvm } from '../request.ts'
import type { EvmDraft, EvmPolicies, EvmRequest } from './content.ts'

type Capabilities = ChainCapabilities<EvmRequest, EvmDraft, EvmPolicies>

/** `Chain` with the types of EVM, and the capabilities that every network of this type has. */
export type EvmChain = ChainOf<EvmRequest, EvmDraft, EvmPolicies, UnsignedEvm> &
  Required<
    Pick<
      Capabilities,
      | 'sequencing'
      | 'feeBump'
      | 'contractCalls'
      | 'typedData'
      | 'blockFinality'
      | 'headSubscription'
      | 'revertReasons'
    >
  >
/** The part of a network that decides which transaction types it accepts. */
export interface FeeMarket {
  readonly chainId: number
  /** The network has EIP-1559 fees. */
  readonly eip1559: boolean
}

export type EvmAccount = Account<EvmPolicies>
export type EvmAttempt = Attempt<EvmDraft>
export type EvmPrepared = Prepared<EvmDraft>
