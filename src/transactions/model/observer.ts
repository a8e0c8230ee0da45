import type { Transaction } from './transaction.ts'
import { isFinal } from './transitions.ts'

/** Is told of what this process did to transactions, once it is committed. Must not throw. */
export interface TransactionObserver {
  /** They are new; the service's own no-ops and errands are among them. */
  created(transactions: readonly Transaction[]): void
  /** A node took them for the first time. */
  submitted(transactions: readonly Transaction[]): void
  /** They came to a final status, which never changes again. */
  finished(transactions: readonly Transaction[]): void
}

interface Observed {
  readonly observer?: TransactionObserver | undefined
}

/** To be called with what was written: tells of those that it made final. */
export function reportFinished({ observer }: Observed, written: readonly Transaction[]): void {
  if (observer === undefined) return
  const finished = written.filter(({ status }) => isFinal(status))
  if (finished.length > 0) observer.finished(finished)
}
