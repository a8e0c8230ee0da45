import type { ConnectionProvider, QueryExecutorProvider, Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Takes statements of one database transaction that begin together, and carries them out in the order in which they begin. None is carried out
 * after one has failed, when the database transaction may have been rolled back already.
 */
export interface StatementQueue extends QueryExecutorProvider {
  readonly stopsAtFailure: true
}

/** Begins statements, none of which waits for another one before it begins. */
type Start<T> = (queue: StatementQueue) => Promise<T>

/**
 * Sends the statements that `start` begins to the embedded database without waiting for the answers in between: its only session would be idle
 * until this thread has time. The engine refuses those behind a failed one, and reads them before the end of the database transaction.
 */
export function sendTogether<T>(tx: Transaction<Schema>, start: Start<T>): Promise<T> {
  return withQueue(tx, start, (connection) => {
    let last: Promise<unknown> = Promise.resolve()
    return (use) => {
      const sent = use(connection)
      // The error of the first one is the reason for all others.
      sent.catch(() => {})
      const next = last.then(() => sent)
      last = next
      return next
    }
  })
}

/** Sends each of the statements that `start` begins to a server when the one before it has its answer, and none behind a failed one. */
export function sendInTurn<T>(tx: Transaction<Schema>, start: Start<T>): Promise<T> {
  return withQueue(tx, start, (connection) => {
    let last: Promise<unknown> = Promise.resolve()
    return (use) => {
      const next = last.then(() => use(connection))
      last = next
      return next
    }
  })
}

type ProvideConnection = ConnectionProvider['provideConnection']
type Connection = Parameters<Parameters<ProvideConnection>[0]>[0]

function withQueue<T>(
  tx: Transaction<Schema>,
  start: Start<T>,
  provideIn: (connection: Connection) => ProvideConnection,
): Promise<T> {
  const executor = tx.getExecutor()
  return executor.provideConnection((connection) => {
    const queued = executor.withConnectionProvider({ provideConnection: provideIn(connection) })
    return start({ getExecutor: () => queued, stopsAtFailure: true })
  })
}
