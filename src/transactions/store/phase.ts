import type { TransactionStatus } from '../model/transaction.ts'

/**
 * The part of a transaction's life, as the database derives it from the status for its indexes. `in_flight`: it is signed and the chain has
 * not decided. Queries name the phase, because no index has the status.
 */
export type Phase = Exclude<TransactionStatus, 'sent' | 'submitted'> | 'in_flight'

/** Phases in which no block includes the transaction. */
export const UNDECIDED_PHASES: readonly Phase[] = ['pending', 'in_flight']

/** Phases in which the transaction is not final. */
export const OPEN_PHASES: readonly Phase[] = [...UNDECIDED_PHASES, 'mined']

/** Returns the phase of a status, as the generated column `transactions.phase` has it. */
export function phaseOf(status: TransactionStatus): Phase {
  return status === 'sent' || status === 'submitted' ? 'in_flight' : status
}
