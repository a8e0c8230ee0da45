import type { Transaction } from './transaction.ts'

/** The fields of a transaction that ends before anything is signed, or when nothing of what was signed can be included. */
export const ENDED_UNSIGNED = {
  awaitsApproval: undefined,
  awaitsPrice: undefined,
  sourceAccount: undefined,
  nonce: undefined,
  cost: 0n,
} satisfies Partial<Transaction>
