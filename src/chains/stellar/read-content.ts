import type { ContentReader } from '../capabilities.ts'
import type { StellarDraft, StellarRequest } from './content.ts'
import { stellarEffects } from './effects.ts'

/** Reads stored Stellar content. */
export const STELLAR_CONTENT: ContentReader<StellarRequest, StellarDraft> = {
  paidFee: ({ result }, payer) => (result?.feeAccount === payer ? result.feeCharged : undefined),
  effects: stellarEffects,
}
