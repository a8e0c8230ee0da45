import type { Attempt } from '../../chains/attempt.ts'
import type { Purpose, Transaction } from './transaction.ts'

/** Intents whose content does nothing but take a nonce. Attempts for them are of the kind with the same name. */
export type NoopPurpose = Extract<Purpose, 'cancel' | 'expire' | 'abandon' | 'gap_filler'>

const NOOPS: readonly Purpose[] = [
  'cancel',
  'expire',
  'abandon',
  'gap_filler',
] satisfies readonly NoopPurpose[]

export function isNoop(purpose: Purpose): purpose is NoopPurpose {
  return NOOPS.includes(purpose)
}

/**
 * What the content of this attempt was signed for. A raised fee keeps the content of the attempt that counted before it, and
 * none that a node refused ever counted.
 */
export function contentKind(
  attempts: readonly Attempt[],
  number: Transaction['currentAttempt'] = 0,
): Attempt['kind'] | undefined {
  const counted = attempts.filter((attempt) => attempt.number === number || attempt.outcome !== 'refused')
  return counted.findLast((attempt) => attempt.number <= number && attempt.kind !== 'speed_up')?.kind
}
