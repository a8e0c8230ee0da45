import type { Attempt, Draft } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { larger } from '../../lib/bigint.ts'
import type { Purpose, Transaction, TransactionWithAttempts } from './transaction.ts'

/**
 * Attempts that the chain can still include: a node has, or may have, their bytes, and no other transaction
 * used their nonce.
 */
export function openAttempts(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
}

/**
 * Attempts whose result is not proved. They include refused ones, because another node may have accepted the
 * bytes.
 */
export function unprovenAttempts(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter(
    ({ outcome }) => outcome === 'signed' || outcome === 'broadcast' || outcome === 'refused',
  )
}

/**
 * Attempts with the current nonce of the transaction. No block can include the others: a transaction leaves a
 * nonce only when the chain has passed it, or has proved that every attempt with it has expired.
 */
export function attemptsAtNonce({ transaction, attempts }: TransactionWithAttempts): Attempt[] {
  const { nonce, sourceAccount } = transaction
  return attempts.filter(
    (attempt) =>
      attempt.nonce === nonce && (sourceAccount === undefined || attempt.sourceAccount === sourceAccount),
  )
}

/**
 * The highest cost among these drafts, in the smallest unit. Any open attempt can be included, so the account
 * must be able to pay for the most expensive one.
 */
export function reservation(drafts: readonly Draft[], costOf: (draft: Draft) => bigint): bigint {
  return drafts.map(costOf).reduce(larger, 0n)
}

/** Purposes whose content only uses a nonce. The attempts for a purpose have the kind of the same name. */
type NoopPurpose = Extract<Purpose, 'cancel' | 'expire' | 'abandon' | 'gap_filler'>

const NOOPS: readonly (Purpose | Attempt['kind'])[] = [
  'cancel',
  'expire',
  'abandon',
  'gap_filler',
] satisfies readonly NoopPurpose[]

/** Returns true if the content of this purpose, or of an attempt of this kind, only uses a nonce. */
export function isNoop(content: Purpose | Attempt['kind']): content is NoopPurpose {
  return NOOPS.includes(content)
}

/**
 * Returns true if the inclusion of this attempt leaves the content of the request unexecuted: it was
 * reverted, or is a no-op. Who believes it may pay again, and budgets are given back.
 */
export function movesNothing(
  attempts: readonly Attempt[],
  { number, isReverted }: { readonly number: number; readonly isReverted: boolean },
): boolean {
  const kind = contentKind(attempts, number)
  return isReverted || kind === undefined || isNoop(kind)
}

/**
 * The kind of content that this attempt has. A `speed_up` keeps the content of the attempt before it. Refused
 * attempts are skipped, because their content was never in effect.
 */
export function contentKind(
  attempts: readonly Attempt[],
  number: Transaction['currentAttempt'] = 0,
): Attempt['kind'] | undefined {
  const counted = attempts.filter((attempt) => attempt.number === number || attempt.outcome !== 'refused')
  return counted.findLast((attempt) => attempt.number <= number && attempt.kind !== 'speed_up')?.kind
}

/** Returns whether a replacement was signed after this attempt, or waits for its turn. Pure. */
export function hasLaterContent({ transaction, attempts }: TransactionWithAttempts, number: number): boolean {
  const isReplaced = attempts.some(
    (other) => other.kind === 'replace' && other.number > number && other.outcome !== 'refused',
  )
  return isReplaced || transaction.purpose === 'successor'
}

/** Every hash under which the chain can include one of these attempts, each once. */
export function hashesOfAll(chain: Chain, attempts: readonly Attempt[]): string[] {
  return [...new Set(attempts.flatMap((attempt) => hashesOf(chain, attempt)))]
}

/** Every hash under which the chain can include the attempt, its own first. */
export function hashesOf(chain: Chain, attempt: Attempt): readonly string[] {
  return chain.inclusionHashes?.of(attempt) ?? [attempt.signed.hash]
}
