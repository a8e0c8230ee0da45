import type { Receipt } from './answer.ts'
import type { Attempt } from './attempt.ts'

/**
 * The attempt that a receipt is about: the one whose own bytes the chain holds; else the newest of `candidates`, whose content it holds
 * in the bytes of somebody else.
 */
export function includedAttempt<A extends Pick<Attempt, 'signed'>>(
  attempts: readonly A[],
  { receipt, candidates }: { readonly receipt: Receipt; readonly candidates: readonly A[] },
): A | undefined {
  const includedHash = receipt.result?.appliedHash ?? receipt.hash
  return attempts.find(({ signed }) => signed.hash === includedHash) ?? candidates.at(-1)
}
