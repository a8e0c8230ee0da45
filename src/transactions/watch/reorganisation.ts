import type { Draft } from '../../chains/attempt.ts'
import { reservation } from '../model/attempts.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { isClosed, outcome, type Resolution } from './resolution.ts'

/** The block of the included attempt is no longer in the chain. The same bytes are broadcast again, and every attempt is open again (I7). */
export function reorged(
  item: TransactionWithAttempts,
  { now, costOf }: { now: Date; costOf: (draft: Draft) => bigint },
): Resolution {
  const { transaction, attempts } = item
  const reopened = attempts.filter((attempt) => !isClosed(attempt) && attempt.nonce === transaction.nonce)
  return {
    transaction: {
      ...transaction,
      status: nextStatus(transaction.status, 'reorged'),
      statusReason: `Block ${transaction.block?.number} that included it is no longer in the chain; the same bytes are broadcast again.`,
      block: undefined,
      cost: reservation(
        reopened.map((attempt) => attempt.draft),
        costOf,
      ),
      nextRunAt: now,
    },
    outcomes: reopened.map((attempt) => outcome(item, attempt, 'broadcast')),
  }
}
