import { AppError } from '../../errors.ts'
import type { LockedPredecessor } from '../after/after-store.ts'
import { evaluateAfter } from '../after/predecessor.ts'
import type { Transaction } from '../model/transaction.ts'

/** The transactions that wait for each other, one behind the other, and those that wait for the same one. */
export const MAX_AFTER_DEPTH = 16
const MAX_FOLLOWERS = 100

/**
 * Decides, by the state of the other transaction under its lock, whether a new one has to wait for it. Pure.
 */
export function awaitPredecessor(
  transaction: Transaction,
  predecessors: ReadonlyMap<string, LockedPredecessor>,
  added: ReadonlyMap<string, number>,
): { readonly transaction: Transaction; readonly problem?: AppError | undefined } {
  const { after, awaitsTransaction } = transaction
  if (after === undefined || awaitsTransaction === undefined) return { transaction }
  const predecessor = predecessors.get(awaitsTransaction)
  if (predecessor === undefined) return { transaction, problem: predecessorNotFound(awaitsTransaction) }
  switch (evaluateAfter(after, predecessor)) {
    case 'release': {
      const statusReason = transaction.awaitsPrice === true ? transaction.statusReason : undefined
      return { transaction: { ...transaction, awaitsTransaction: undefined, statusReason } }
    }
    case 'cancel': {
      const detail = `after.transaction_id: transaction ${awaitsTransaction} is ${predecessor.status}, so this one would be canceled; send it without after, or with on_failure "send".`
      return { transaction, problem: new AppError('invalid_request', detail) }
    }
    case 'wait':
      return { transaction, problem: tooMuchToAwait(predecessor, added.get(awaitsTransaction) ?? 0) }
  }
}

function tooMuchToAwait({ id, depth, followers }: LockedPredecessor, added: number): AppError | undefined {
  if (depth + 1 >= MAX_AFTER_DEPTH)
    return new AppError(
      'invalid_request',
      `after.transaction_id: transaction ${id} is the last of ${MAX_AFTER_DEPTH} that wait for each other, the maximum; send this one later.`,
    )
  if (followers + added < MAX_FOLLOWERS) return undefined
  return new AppError(
    'invalid_request',
    `after.transaction_id: ${MAX_FOLLOWERS} transactions wait for transaction ${id} already, the maximum; send this one later.`,
  )
}

/** The refusal to wait for a transaction that does not exist, or that the caller may not see. */
export function predecessorNotFound(id: string): AppError {
  return new AppError('transaction_not_found', `after.transaction_id: there is no transaction ${id}.`)
}
