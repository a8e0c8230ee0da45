import type { Attempt } from '../../chains/attempt.ts'
import type { Purpose, Transaction } from './transaction.ts'

/** Purposes whose content only uses a nonce. The attempts for a purpose have the kind of the same name. */
export type NoopPurpose = Extract<Purpose, 'cancel' | 'expire' | 'abandon' | 'gap_filler'>

const NOOPS: readonly (Purpose | Attempt['kind'])[] = [
  'cancel',
  'expire',
  'abandon',
  'gap_filler',
] satisfies readonly NoopPurpose[]

/** Returns true when the content of this purpose, or of an attempt of this kind, only uses a nonce. */
export function isNoop(content: Purpose | Attempt['kind']): content is NoopPurpose {
  return NOOPS.includes(content)
}

/**
 * Returns true when the inclusion of this attempt leaves the content of the request unexecuted: it was reverted, or is a no-op. Who believes it may
 * pay again, and budgets are given back.
 */
export function movesNothing(
  attempts: readonly Attempt[],
  { number, isReverted }: { readonly number: number; readonly isReverted: boolean },
): boolean {
  const kind = contentKind(attempts, number)
  return isReverted || kind === undefined || isNoop(kind)
}

/**
 * The kind of content that this attempt has. A `speed_up` keeps the content of the attempt before it. Refused attempts are skipped,
 * because their content was never in effect.
 */
export function contentKind(
  attempts: readonly Attempt[],
  number: Transaction['currentAttempt'] = 0,
): Attempt['kind'] | undefined {
  const counted = attempts.filter((attempt) => attempt.number === number || attempt.outcome !== 'refused')
  return counted.findLast((attempt) => attempt.number <= number && attempt.kind !== 'speed_up')?.kind
}
