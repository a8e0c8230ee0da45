import type { Receipt } from './answer.ts'
import type { Attempt } from './attempt.ts'

/**
 * Returns the attempt that a receipt belongs to: the one whose own bytes are in the chain, otherwise the newest of `candidates`, whose
 * content another party sent in bytes of their own.
 */
export function includedAttempt<A extends Pick<Attempt, 'signed'>>(
  attempts: readonly A[],
  { receipt, candidates }: { readonly receipt: Receipt; readonly candidates: readonly A[] },
): A | undefined {
  const includedHash = receipt.result?.appliedHash ?? receipt.hash
  return attempts.find(({ signed }) => signed.hash === includedHash) ?? candidates.at(-1)
}
