import type { Attempt, Prepared } from '../attempt.ts'
import type { ChainCapabilities } from '../capabilities.ts'
import type { ChainOf } from '../chain.ts'
import type { Account, UnsignedStellar } from '../request.ts'
import type { StellarDraft, StellarPolicies, StellarRequest } from './content.ts'

type Capabilities = ChainCapabilities<StellarRequest, StellarDraft, StellarPolicies>

/** `Chain` with the types of Stellar, and the capabilities that every network of this type has. */
export type StellarChain = ChainOf<StellarRequest, StellarDraft, StellarPolicies, UnsignedStellar> &
  Required<
    Pick<
      Capabilities,
      'sequencing' | 'expiry' | 'channels' | 'externalSigning' | 'authorizationEntries' | 'inclusionHashes'
    >
  >
export type StellarAccount = Account<StellarPolicies>
export type StellarAttempt = Attempt<StellarDraft>
export type StellarPrepared = Prepared<StellarDraft>
