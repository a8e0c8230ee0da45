import type { Attempt } from '../attempt.ts'
import type { Account, ChainOf, Prepared } from '../chain.ts'
import type { UnsignedEvm } from '../unsigned.ts'
import type { EvmDraft, EvmPolicies, EvmRequest } from './content.ts'

/** The general words, as they are for EVM. */
export type EvmChain = ChainOf<EvmRequest, EvmDraft, EvmPolicies, UnsignedEvm>
export type EvmAccount = Account<EvmPolicies>
export type EvmAttempt = Attempt<EvmDraft>
export type EvmPrepared = Prepared<EvmDraft>
