import type { Attempt } from '../../chains/attempt.ts'
import { isNoop } from '../../transactions/model/attempts.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { includedAttempt } from './attempts-by-hash.ts'

/** The result of one call of a bundle: `dropped` when the chain will never include it. */
type CallResult = 'pending' | 'succeeded' | 'reverted' | 'dropped'

/** The status code of EIP-5792 of a bundle of which the chain does not include everything yet. */
export const BUNDLE_PENDING = 100

/** Its further status codes. */
const CONFIRMED = 200
const NEVER_INCLUDED = 400
const REVERTED = 500
const PARTLY_REVERTED = 600

/** Decides the status of a bundle, as EIP-5792 counts it, from its transactions. Pure. */
export function bundleStatus(items: readonly TransactionWithAttempts[]): number {
  const results = new Set(items.map(resultOf))
  if (results.has('pending')) return BUNDLE_PENDING
  if (results.has('succeeded')) return results.size === 1 ? CONFIRMED : PARTLY_REVERTED
  return results.has('reverted') ? REVERTED : NEVER_INCLUDED
}

/** Returns the attempt of a request that the chain includes, or undefined when it includes none, or a no-op in its place. */
export function includedCall(item: TransactionWithAttempts): Attempt | undefined {
  const included = includedAttempt(item)
  return included === undefined || isNoop(included.kind) ? undefined : included
}

function resultOf(item: TransactionWithAttempts): CallResult {
  const included = includedAttempt(item)
  if (included && isNoop(included.kind)) return 'dropped'
  if (included) return included.outcome === 'reverted' ? 'reverted' : 'succeeded'
  return isFinal(item.transaction.status) ? 'dropped' : 'pending'
}
