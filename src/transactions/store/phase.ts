import { sql } from 'kysely'
import type { TransactionStatus } from '../model/transaction.ts'

/**
 * The part of a transaction's life, as the database derives it from the status for its indexes. `signed`: its bytes are stored, and it is not
 * final. Queries name the phase, because no index has the status: what an index has may not change at every step, or each step writes entries
 * into every index.
 */
export type Phase = Exclude<TransactionStatus, 'sent' | 'submitted' | 'mined'> | 'signed'

/** Returns the phase of a status, as the generated column `transactions.phase` has it. */
export function phaseOf(status: TransactionStatus): Phase {
  return status === 'sent' || status === 'submitted' || status === 'mined' ? 'signed' : status
}

// The conditions have literals, because a partial index applies in every plan only then.

/** The condition that a transaction is not final. */
export const IS_OPEN = sql<boolean>`phase in ('pending', 'signed')`

/** The condition that a transaction is signed and not final. */
export const IS_SIGNED = sql<boolean>`phase = 'signed'`

/** The condition that a transaction is signed and no block includes it. */
export const IS_IN_FLIGHT = sql<boolean>`(phase = 'signed' and status <> 'mined')`

/** The condition that a transaction is not final and no block includes it. */
export const IS_UNMINED = sql<boolean>`(phase in ('pending', 'signed') and status <> 'mined')`
