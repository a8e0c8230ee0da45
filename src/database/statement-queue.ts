import type { QueryExecutorProvider } from 'kysely'
import type { Tx } from './schema.ts'

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
export function sendTogether<T>(tx: Tx, start: Start<T>): Promise<T> {
  return withQueue(tx, start, (before, run) => {
    const sent = run()
    // The error of the first one is the reason for all others.
    sent.catch(() => {})
    return before.then(() => sent)
  })
}

/** Sends each of the statements that `start` begins to a server when the one before it has its answer, and none behind a failed one. */
export function sendInTurn<T>(tx: Tx, start: Start<T>): Promise<T> {
  return withQueue(tx, start, (before, run) => before.then(run))
}

/** Runs a statement behind those before it. Its promise is rejected when theirs is. */
type Enqueue = <R>(before: Promise<unknown>, run: () => Promise<R>) => Promise<R>

function withQueue<T>(tx: Tx, start: Start<T>, enqueue: Enqueue): Promise<T> {
  const executor = tx.getExecutor()
  return executor.provideConnection(async (connection) => {
    let last: Promise<unknown> = Promise.resolve()
    const queued = executor.withConnectionProvider({
      provideConnection: (use) => {
        const next = enqueue(last, () => use(connection))
        last = next
        return next
      },
    })
    try {
      return await start({ getExecutor: () => queued, stopsAtFailure: true })
    } finally {
      // An error of the program, such as an unreadable row, must not end the database transaction while a statement is on its way.
      await last.catch(() => {})
    }
  })
}
