import type { ContentReader } from '../capabilities.ts'
import type { EvmDraft, EvmRequest } from './content.ts'
import { evmEffects } from './effects.ts'

/** Reads stored EVM content. */
export const EVM_CONTENT: ContentReader<EvmRequest, EvmDraft> = {
  paidFee: ({ result }) => result?.feeCharged,
  effects: evmEffects,
}
