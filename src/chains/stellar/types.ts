import type { Attempt } from '../attempt.ts'
import type { Account, ChainOf, Prepared } from '../chain.ts'
import type { UnsignedStellar } from '../unsigned.ts'
import type { StellarDraft, StellarPolicies, StellarRequest } from './content.ts'

/** The general words, as they are for Stellar. */
export type StellarChain = ChainOf<StellarRequest, StellarDraft, StellarPolicies, UnsignedStellar>
export type StellarAccount = Account<StellarPolicies>
export type StellarAttempt = Attempt<StellarDraft>
export type StellarPrepared = Prepared<StellarDraft>
