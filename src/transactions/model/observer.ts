import type { Logger } from 'pino'
import type { ChargedFee } from '../../chains/attempt.ts'
import type { Unit } from '../../chains/chain.ts'
import type { Transaction } from './transaction.ts'
import { isFinal } from './transitions.ts'

/** The fee that a final transaction took from the account of its relayer. */
export interface FeePayment {
  readonly transaction: Transaction
  /** In the smallest unit. */
  readonly fee: ChargedFee
  readonly unit: Unit
}

/**
 * Receives the changes that this process made to transactions, after their commit. Its functions must not
 * throw.
 */
export interface TransactionObserver {
  /** New transactions, including the service's own no-ops and setup transactions. */
  created(transactions: readonly Transaction[]): void
  /** A node accepted them for the first time. */
  submitted(transactions: readonly Transaction[]): void
  /** They reached a final status, which never changes. */
  finished(transactions: readonly Transaction[]): void
  /** Blocks that include them are final, and the chain returned their fees. */
  paid(payments: readonly FeePayment[]): void
}

interface Observed {
  readonly log: Logger
  readonly observer?: TransactionObserver | undefined
}

/**
 * Reports to the observer the written transactions that are final now, and to the log the setup transactions
 * that had no effect: no caller requested them, so no one reads their records. Call it after the commit.
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

/**
 * A step of the work for a transaction. `prepare`: simulate and price · `sign` · `store`: write nonces and signed bytes · `broadcast` ·
 * `watch`: read its receipts · `settle`: write what the chain decided · `confirm`: ask about its final block.
 */
type StepName = 'prepare' | 'sign' | 'store' | 'broadcast' | 'watch' | 'settle' | 'confirm'

/** Transactions, and the step that is done for all of them together. */
export interface Step {
  readonly name: StepName
  readonly transactions: readonly Transaction[]
}

/**
 * Records the work for transactions in traces: each transaction has its own trace. Its functions must not
 * throw.
 */
export interface TransactionTracer {
  /**
   * Returns the trace context of the current request (the `traceparent` of W3C), to be stored; undefined
   * outside a request.
   */
  requestContext(): string | undefined
  /** Runs a step, and rejects as `work` does. */
  step<T>(step: Step, work: () => Promise<T>): Promise<T>
}

/** Runs a step with the tracer, or without one when traces are off. */
export function traceStep<T>(
  { tracer }: { readonly tracer?: TransactionTracer | undefined },
  step: Step,
  work: () => Promise<T>,
): Promise<T> {
  return tracer === undefined || step.transactions.length === 0 ? work() : tracer.step(step, work)
}
