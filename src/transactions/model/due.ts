import type { Transaction } from './transaction.ts'

/**
 * The longest time in ms for which a transaction waits. A later `nextRunAt` was written while the clock was ahead, so the transaction is due:
 * otherwise its account would stand still until the clock gets there.
 */
export const LONGEST_WAIT_MS = 300_000

/** Returns true when the transaction may run now. One that has never waited is due whatever the clock says. Pure. */
export function isDue(
  { nextRunAt, createdAt, status }: Pick<Transaction, 'nextRunAt' | 'createdAt' | 'status'>,
  now: number,
): boolean {
  const at = nextRunAt.getTime()
  if (at <= now || at > now + LONGEST_WAIT_MS) return true
  return status === 'pending' && at === createdAt.getTime()
}
