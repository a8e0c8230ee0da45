import type { Transaction } from '@electric-sql/pglite'

/** Creates a transaction that could not begin: each of its calls fails with the reason. */
export function createFailedTransaction(reason: unknown): Transaction {
  const fail = () => Promise.reject(reason)
  return { query: fail, sql: fail, exec: fail, rollback: fail, listen: fail, closed: true }
}
