import type { QueryExecutorProvider } from 'kysely'
import {
  NO_RESERVATION_BOUNDS,
  type TransactionWriter,
} from '../../src/transactions/store/reservation-bounds.ts'

/** Writes in this database transaction as on a server, where no bound of what is reserved is known. */
export function writerOf<Session extends QueryExecutorProvider>(tx: Session): TransactionWriter<Session> {
  return { tx, reservations: NO_RESERVATION_BOUNDS }
}
