import type { Transaction } from './transaction.ts'
import { isFinal } from './transitions.ts'

/** Receives the changes that this process made to transactions, after their commit. Its functions must not throw. */
export interface TransactionObserver {
  /** New transactions, including the service's own no-ops and setup transactions. */
  created(transactions: readonly Transaction[]): void
  /** A node accepted them for the first time. */
  submitted(transactions: readonly Transaction[]): void
  /** They reached a final status, which never changes. */
  finished(transactions: readonly Transaction[]): void
}

interface Observed {
  readonly observer?: TransactionObserver | undefined
}

/** Reports to the observer the written transactions that are final now. Call it after the commit. */
export function reportFinished({ observer }: Observed, written: readonly Transaction[]): void {
  if (observer === undefined) return
  const finished = written.filter(({ status }) => isFinal(status))
  if (finished.length > 0) observer.finished(finished)
}
