import type { Transaction } from './transaction.ts'

/**
 * A step of the work for a transaction. `prepare`: simulate and price · `sign` · `store`: write nonces and signed bytes · `broadcast` ·
 * `watch`: read its receipts · `settle`: write what the chain decided · `confirm`: ask about its final block.
 */
export type StepName = 'prepare' | 'sign' | 'store' | 'broadcast' | 'watch' | 'settle' | 'confirm'

/** Transactions, and the step that is done for all of them together. */
export interface Step {
  readonly name: StepName
  readonly transactions: readonly Transaction[]
}

/** Records the work for transactions in traces: each transaction has a trace of its own. Its functions must not throw by themselves. */
export interface TransactionTracer {
  /** Returns the trace context of the present request (the `traceparent` of W3C), to be stored; undefined outside a request. */
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
