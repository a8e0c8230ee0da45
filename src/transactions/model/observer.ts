import type { Logger } from 'pino'
import type { Unit } from '../../chains/chain.ts'
import type { Transaction } from './transaction.ts'
import { isFinal } from './transitions.ts'

/** The fee that a final transaction took from the account of its relayer. */
export interface FeePayment {
  readonly transaction: Transaction
  /** In the smallest unit. */
  readonly fee: bigint
  readonly unit: Unit
}

/** Receives the changes that this process made to transactions, after their commit. Its functions must not throw. */
export interface TransactionObserver {
  /** New transactions, including the service's own no-ops and setup transactions. */
  created(transactions: readonly Transaction[]): void
  /** A node accepted them for the first time. */
  submitted(transactions: readonly Transaction[]): void
  /** They reached a final status, which never changes. */
  finished(transactions: readonly Transaction[]): void
  /** Blocks that include them are final, and the chain told their fees. */
  paid(payments: readonly FeePayment[]): void
}

interface Observed {
  readonly log: Logger
  readonly observer?: TransactionObserver | undefined
}

/**
 * Reports to the observer the written transactions that are final now, and to the log the setup transactions that had no effect: nobody
 * requested them, so nobody looks at their records. Call it after the commit.
 */
export function reportFinished({ log, observer }: Observed, written: readonly Transaction[]): void {
  const finished = written.filter(({ status }) => isFinal(status))
  for (const { id, relayerId, purpose, status, statusReason } of finished) {
    if (purpose === 'setup' && status !== 'confirmed')
      log.warn(
        { transaction: id, relayer: relayerId, status, detail: statusReason },
        'setup transaction failed; it is tried again when something needs it',
      )
  }
  if (finished.length > 0) observer?.finished(finished)
}
