import type { QueryExecutorProvider } from 'kysely'
import type { Tx } from '../../database/schema.ts'
import type { Transaction, TransactionStatus } from '../model/transaction.ts'

/**
 * Upper bounds of what the open transactions of each relayer can still take. The sum itself reads the row of each of them, which takes longer
 * than everything else about an acceptance. A bound is the sum as it was once, and the cost of everything written since; so it is never too
 * small, and too large by what was written twice or has ended. Whoever would refuse something because of it reads the sum again.
 */
export interface ReservationBounds {
  /** Returns the bound in the smallest unit; undefined when the sum has to be read. */
  find(relayerId: string): bigint | undefined
  /** Takes the sum of all open transactions of the relayer, whatever they wait for. Call it in the database transaction that read the sum. */
  set(relayerId: string, sum: bigint): void
  /** Adds transactions that are about to be written. If the database transaction fails, the bound is too large. */
  add(transactions: readonly Transaction[]): void
}

/** A database transaction that writes transactions, and the bounds that stay true by it. */
export interface TransactionWriter<Session extends QueryExecutorProvider = Tx> {
  readonly tx: Session
  readonly reservations: ReservationBounds
}

/** The statuses in which a transaction reserves its cost, as `IS_UNMINED`. */
const RESERVING: ReadonlySet<TransactionStatus> = new Set(['pending', 'sent', 'submitted'])

/** Creates bounds for a database with one session, which this process has for itself: every other database transaction comes before or after. */
export function createReservationBounds(): ReservationBounds {
  const bounds = new Map<string, bigint>()
  return {
    find: (relayerId) => bounds.get(relayerId),
    set: (relayerId, sum) => void bounds.set(relayerId, sum),
    add: (transactions) => {
      for (const { relayerId, status, cost } of transactions) {
        const bound = bounds.get(relayerId)
        if (bound !== undefined && RESERVING.has(status)) bounds.set(relayerId, bound + cost)
      }
    },
  }
}

/** Never knows a bound: on a server, other processes write transactions, too. */
export const NO_RESERVATION_BOUNDS: ReservationBounds = {
  find: () => undefined,
  set: () => {},
  add: () => {},
}
