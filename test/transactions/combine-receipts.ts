import type { InclusionProof, ReceiptAnswer } from '../../src/chains/answer.ts'
import type { Attempt } from '../../src/chains/attempt.ts'

/** The fate of one transaction from the answers to each of its attempts, in the order of the attempts. */
export function combineReceipts(
  attempts: readonly Attempt[],
  answers: readonly ReceiptAnswer[],
): InclusionProof {
  for (const [index, answer] of answers.entries()) {
    const attempt = attempts[index]
    if (attempt !== undefined && answer.kind === 'included')
      return { kind: 'included', number: attempt.number, receipt: answer.receipt }
  }
  const allAbsent = answers.length === attempts.length && answers.every(({ kind }) => kind === 'none')
  return allAbsent ? { kind: 'absent' } : { kind: 'unknown', detail: 'not every endpoint answered' }
}
