import type { Schemas } from '../operation-types.ts'
import { RelayerError } from './relayer-error.ts'

type Transaction = Schemas['TransactionWithAttempts']

/** The transaction ended as `failed`, `canceled` or `expired`, so it never reaches the status that was waited for. */
export class TransactionEndedError extends RelayerError {
  override readonly name = 'TransactionEndedError'
  /** The transaction as it ended; `status_reason` says why. */
  readonly transaction: Transaction

  constructor(transaction: Transaction) {
    const { id, status, status_reason } = transaction
    super(`transaction ${id} ended as ${status}${status_reason === undefined ? '' : `: ${status_reason}`}`)
    this.transaction = transaction
  }
}

/** The time to wait is over. The transaction goes on. */
export class WaitTimeoutError extends RelayerError {
  override readonly name = 'WaitTimeoutError'
  /** The transaction as it was seen last; undefined if the service has not answered at all. */
  readonly transaction: Transaction | undefined

  constructor(id: string, timeoutMs: number, transaction: Transaction | undefined) {
    super(`transaction ${id} was ${transaction?.status ?? 'not seen'} when ${timeoutMs} ms were over`)
    this.transaction = transaction
  }
}

/** The service has accepted the transaction, and does not show it: `cause` says why. It goes on, so do not send it again. */
export class TransactionUnseenError extends RelayerError {
  override readonly name = 'TransactionUnseenError'
  readonly transactionId: string

  constructor(transactionId: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`transaction ${transactionId} was accepted, and cannot be seen: ${reason}`, { cause })
    this.transactionId = transactionId
  }
}
