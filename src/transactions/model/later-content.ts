import type { TransactionWithAttempts } from './transaction.ts'

/** Tells whether a replacement was signed after this attempt, or waits for its turn. Pure. */
export function hasLaterContent({ transaction, attempts }: TransactionWithAttempts, number: number): boolean {
  const isReplaced = attempts.some(
    (other) => other.kind === 'replace' && other.number > number && other.outcome !== 'refused',
  )
  return isReplaced || transaction.purpose === 'successor'
}
