import type { Attempt, Draft } from '../../chains/attempt.ts'
import { larger } from '../../lib/bigint.ts'
import type { TransactionWithAttempts } from './transaction.ts'

/** Attempts that the chain can still include: a node has, or may have, their bytes, and no other transaction used their nonce. */
export function openAttempts(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
}

/** Attempts whose result is not proved. They include refused ones, because another node may have accepted the bytes. */
export function unprovenAttempts(attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter(
    ({ outcome }) => outcome === 'signed' || outcome === 'broadcast' || outcome === 'refused',
  )
}

/**
 * Attempts with the present nonce of the transaction. No block can include the others: a transaction leaves a nonce only when the chain has
 * passed it, or has proved that every attempt with it has expired.
 */
export function attemptsAtNonce({ transaction, attempts }: TransactionWithAttempts): Attempt[] {
  const { nonce, sourceAccount } = transaction
  return attempts.filter(
    (attempt) =>
      attempt.nonce === nonce && (sourceAccount === undefined || attempt.sourceAccount === sourceAccount),
  )
}

/**
 * The highest cost among these drafts, in the smallest unit. Any open attempt can be included, so the account must be able to pay for
 * the most expensive one.
 */
export function reservation(drafts: readonly Draft[], costOf: (draft: Draft) => bigint): bigint {
  return drafts.map(costOf).reduce(larger, 0n)
}
