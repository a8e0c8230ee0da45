import type { QueryExecutorProvider, Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Sends the statements that `start` begins, of a database transaction of the embedded database, without waiting for an answer before the next
 * one: between two statements the only session would be idle until this thread has time. They are carried out in the order in which they
 * begin. When one fails, so do those behind it.
 */
export function inOneGo<T>(
  tx: Transaction<Schema>,
  start: (session: QueryExecutorProvider) => Promise<T>,
): Promise<T> {
  const executor = tx.getExecutor()
  return executor.provideConnection((connection) => {
    const session = executor.withConnectionProvider({ provideConnection: (use) => use(connection) })
    return start({ getExecutor: () => session })
  })
}
