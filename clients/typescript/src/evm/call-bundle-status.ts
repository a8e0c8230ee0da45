import { includedAttempt, isNoOp } from '../transactions/attempts.ts'
import type { Transaction } from '../transactions/wait-for.ts'

/** The result of one call of a bundle: `dropped` when the chain will never include it. */
type CallResult = 'pending' | 'succeeded' | 'reverted' | 'dropped'

/** The status code of EIP-5792 of a bundle of which the chain does not include everything yet. */
export const BUNDLE_PENDING = 100

/** Its further status codes. */
const CONFIRMED = 200
const NEVER_INCLUDED = 400
const REVERTED = 500
const PARTLY_REVERTED = 600

/** Decides the status of a bundle, as EIP-5792 counts it, from its transactions. */
export function bundleStatus(transactions: readonly Transaction[]): number {
  const results = new Set(transactions.map(resultOf))
  if (results.has('pending')) return BUNDLE_PENDING
  if (results.has('succeeded')) return results.size === 1 ? CONFIRMED : PARTLY_REVERTED
  return results.has('reverted') ? REVERTED : NEVER_INCLUDED
}

/** Returns the hash of the attempt of a request that the chain includes, or undefined if it includes none, or a no-op in its place. */
export function includedCall(transaction: Transaction): string | undefined {
  const included = includedAttempt(transaction)
  return included && !isNoOp(included) ? included.hash : undefined
}

const ENDED_OTHERWISE: ReadonlySet<Transaction['status']> = new Set(['failed', 'canceled', 'expired'])

function resultOf(transaction: Transaction): CallResult {
  const included = includedAttempt(transaction)
  if (included && isNoOp(included)) return 'dropped'
  if (included) return included.outcome === 'reverted' ? 'reverted' : 'succeeded'
  return ENDED_OTHERWISE.has(transaction.status) ? 'dropped' : 'pending'
}
