import type { Attempt } from '../../chains/attempt.ts'
import type { Intent, Transaction } from './transaction.ts'

/** Intents whose content does nothing but take a nonce. Attempts for them are of the kind with the same name. */
export type NoopIntent = Extract<Intent, 'cancel' | 'expire' | 'abandon' | 'filler'>

const NOOPS: readonly Intent[] = ['cancel', 'expire', 'abandon', 'filler'] satisfies readonly NoopIntent[]

export function isNoop(intent: Intent): intent is NoopIntent {
  return NOOPS.includes(intent)
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
