import type { ContentReader } from '../capabilities.ts'
import type { SolanaDraft, SolanaRequest } from './content.ts'
import { solanaEffects } from './effects.ts'

/** Reads stored Solana content. */
export const SOLANA_CONTENT: ContentReader<SolanaRequest, SolanaDraft> = {
  // The network charges for the signatures and the requested units, also when the execution fails, so the fee is known when it is signed.
  // A transaction that a block contains without having executed it costs nothing (SIMD-0290).
  paidFee: ({ draft, result }) => result?.feeCharged ?? draft.fee,
  effects: solanaEffects,
}
