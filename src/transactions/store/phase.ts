import type { TransactionStatus } from '../model/transaction.ts'

/**
 * The part of a transaction's life, as the database derives it from the status for its indexes. `signed`: its bytes are stored, and it is not
 * final. Queries name the phase (`phase-store.ts`), because no index has the status: what an index has may not change at every step, or each step
 * writes entries into every index.
 */
export type Phase = Exclude<TransactionStatus, 'sent' | 'submitted' | 'mined'> | 'signed'

/** Returns the phase of a status, as the generated column `transactions.phase` has it. */
export function phaseOf(status: TransactionStatus): Phase {
  return status === 'sent' || status === 'submitted' || status === 'mined' ? 'signed' : status
}
