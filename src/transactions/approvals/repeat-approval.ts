import type { Chain } from '../../chains/chain.ts'
import type { Db } from '../../database/schema.ts'
import type { Transaction } from '../model/transaction.ts'
import type { NewApproval } from './approval.ts'
import { findApproved } from './approvals-store.ts'

/** An approval that a transaction needs once more. */
export type RepeatedApproval = Pick<NewApproval, 'transactionId' | 'createdAt' | 'expiresAt'>

interface RepeatContext {
  readonly chain: Pick<Chain, 'endsAt'>
  readonly now: Date
}

/**
 * Finds the approvals of transactions whose next version could be executed besides the one that was approved. The new decision has as much time as the first
 * one had.
 */
export async function findApprovalsToRepeat(
  db: Db,
  { chain, now }: RepeatContext,
  transactions: readonly Transaction[],
): Promise<Map<string, RepeatedApproval>> {
  const approved = await findApproved(
    db,
    transactions.map(({ id }) => id),
  )
  const ends = new Map(transactions.map(({ id, request }) => [id, chain.endsAt(request)]))
  return new Map(
    approved.map(({ transactionId, createdAt, expiresAt }) => {
      const longest = new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime())
      const end = ends.get(transactionId)
      return [
        transactionId,
        { transactionId, createdAt: now, expiresAt: end !== undefined && end < longest ? end : longest },
      ]
    }),
  )
}

/** Makes a transaction wait until somebody approves its next version; without an approval it stays as it is. Pure. */
export function awaitAgain(transaction: Transaction, approval: RepeatedApproval | undefined): Transaction {
  if (approval === undefined) return transaction
  const statusReason = `${transaction.statusReason ?? ''} Only one endpoint or an operator says that the approved version was not included, so the next one waits for a new approval until ${approval.expiresAt.toISOString()}.`
  return { ...transaction, awaitsApproval: true, statusReason: statusReason.trim() }
}
