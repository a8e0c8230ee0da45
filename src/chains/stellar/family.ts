import type { ContentReader } from '../capabilities.ts'
import type { StellarDraft, StellarRequest } from './content.ts'
import { stellarEffects } from './effects/effects.ts'

/** Reads stored Stellar content. */
export const STELLAR_CONTENT: ContentReader<StellarRequest, StellarDraft> = {
  paidFee: ({ result }, payer) => (result?.feeAccount === payer ? result.feeCharged : undefined),
  effects: stellarEffects,
}

/**
 * RPC methods that callers may use when the relayer's policy lists none: reads, prices and simulations.
 * Methods that sign, send or administer are missing, and so are methods that keep state on a node, because
 * the next call may reach another node.
 */
export const READ_METHODS: readonly string[] = [
  'getEvents',
  'getFeeStats',
  'getHealth',
  'getLatestLedger',
  'getLedgerEntries',
  'getLedgers',
  'getNetwork',
  'getTransaction',
  'getTransactions',
  'getVersionInfo',
  'simulateTransaction',
]
