import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'

/** Ends an open transaction of a chain that was reset. Pure: the record says that nothing of the old chain counts any more. */
export function endedByReset(transaction: Transaction, now: Date): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'failed'),
    statusReason: `The chain of network ${transaction.network} was declared reset at ${now.toISOString()}, before this transaction was final.`,
    awaitsApproval: undefined,
    cost: 0n,
    block: undefined,
    nextRunAt: now,
    undecidedSince: undefined,
    stuckSince: undefined,
    reorganizedAt: undefined,
  }
}
