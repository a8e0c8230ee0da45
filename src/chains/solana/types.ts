import type { Attempt } from '../attempt.ts'
import type { Account, ChainOf, Prepared } from '../chain.ts'
import type { UnsignedSolana } from '../unsigned.ts'
import type { SolanaDraft, SolanaPolicies, SolanaRequest } from './content.ts'

/** The general words, as they are for Solana. */
export type SolanaChain = ChainOf<SolanaRequest, SolanaDraft, SolanaPolicies, UnsignedSolana>
export type SolanaAccount = Account<SolanaPolicies>
export type SolanaAttempt = Attempt<SolanaDraft>
export type SolanaPrepared = Prepared<SolanaDraft>
