import type { Attempt, ChainRequest } from '../chains/chain.ts'
import type { TransactionStatus } from '../contract/operations.ts'

export type { TransactionStatus }

/** Why a stored transaction carries the content it has. `noop` replaced the caller's content (cancel, filler). */
export type Intent = 'request' | 'cancel' | 'filler'

/** Our record of a request, from accepted to final. */
export interface Transaction {
  readonly id: string
  readonly relayerId: string
  readonly status: TransactionStatus
  readonly statusReason?: string
  readonly createdAt: Date
  readonly sentAt?: Date
  readonly confirmedAt?: Date
  readonly request: ChainRequest
  readonly intent: Intent
  /** The account nonce; absent until the transaction is numbered. Once given it is never given to another. */
  readonly nonce?: bigint
  /** Counts every change of the record. A writer that read an older version changes nothing. */
  readonly version: number
  /** Number of the attempt that the record shows: the newest, or the included one once the chain has decided. */
  readonly currentAttempt?: number
  /** The block that includes `currentAttempt`, while the chain says so. */
  readonly block?: { readonly number: bigint; readonly hash: string }
}

/** A transaction with every attempt that was ever signed for it, oldest first. */
export interface TransactionWithAttempts {
  readonly transaction: Transaction
  readonly attempts: readonly Attempt[]
}
