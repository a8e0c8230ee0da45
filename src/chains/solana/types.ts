import type { Attempt, Prepared } from '../attempt.ts'
import type { ChainCapabilities } from '../capabilities.ts'
import type { ChainOf } from '../chain.ts'
import type { Account, UnsignedSolana } from '../request.ts'
import type { SolanaDraft, SolanaPolicies, SolanaRequest } from './content.ts'

type Capabilities = ChainCapabilities<SolanaRequest, SolanaDraft, SolanaPolicies>

/** `Chain` with the types of Solana, and the capabilities that every network of this type has. */
export type SolanaChain = ChainOf<SolanaRequest, SolanaDraft, SolanaPolicies, UnsignedSolana> &
  Required<Pick<Capabilities, 'expiry' | 'history'>>
export type SolanaAccount = Account<SolanaPolicies>
export type SolanaAttempt = Attempt<SolanaDraft>
export type SolanaPrepared = Prepared<SolanaDraft>
