import type { Attempt } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/chain.ts'

/** The status of a transaction. `transitions.ts` holds the moves between them; a type test holds it equal to the contract's. */
export type TransactionStatus =
  | 'pending'
  | 'sent'
  | 'submitted'
  | 'mined'
  | 'confirmed'
  | 'failed'
  | 'canceled'
  | 'expired'

/**
 * What the newest content is for. `request`: what the caller asked · `successor`: what the caller asked in place of an earlier
 * one that has to lapse first · `cancel`: the caller cancelled, so a no-op, or nothing once the earlier one has lapsed · `expire`: a no-op because `valid_until` passed · `abandon`: a no-op because no node would take the content ·
 * `filler`: a no-op of our own that closes a nonce gap · `errand`: something of our own that others wait for.
 */
export type Purpose = 'request' | 'successor' | 'cancel' | 'expire' | 'abandon' | 'gap_filler' | 'setup'

/** Our record of a request, from accepted to final. */
export interface Transaction {
  readonly id: string
  readonly relayerId: string
  /** The account that sends it, as it was when the request was accepted. */
  readonly network: string
  readonly from: string
  readonly status: TransactionStatus
  readonly statusReason?: string | undefined
  readonly createdAt: Date
  /** When a node took the first attempt. */
  readonly sentAt?: Date | undefined
  readonly confirmedAt?: Date | undefined
  readonly request: ChainRequest
  readonly purpose: Purpose
  /** Gas estimated when the request was accepted; spares a second simulation. */
  readonly estimatedGas?: bigint | undefined
  /** Whose nonce it takes: the account's own or a channel's, or that of whoever signed its content. There with `nonce`. */
  readonly sourceAccount?: string | undefined
  /**
   * Absent until the transaction is numbered. Once given it is not given to another, unless the chain proves that nothing
   * with it can be included any more.
   */
  readonly nonce?: bigint | undefined
  /** Counts every change of the record. A writer that read an older version changes nothing. */
  readonly version: number
  /** Number of the attempt that the record shows: the newest, or the included one once the chain has decided. */
  readonly currentAttempt?: number | undefined
  /** The most that this can still take from the account, in the smallest unit; 0 once the chain has decided. */
  readonly cost: bigint
  /** The block that includes `currentAttempt`, while the chain says so. */
  readonly block?: { readonly number: bigint; readonly hash: string } | undefined
  /** Not before this time does a worker look at it again. */
  readonly nextRunAt: Date
  /** Since when it is known that no endpoint can prove whether it was included: an operator has to decide. */
  readonly undecidedSince?: Date | undefined
  /** Since when others of its account wait for it longer than is normal. */
  readonly stuckSince?: Date | undefined
  /** When the block that a confirmed transaction was in was found to be gone. */
  readonly reorganizedAt?: Date | undefined
}

/** A transaction with every attempt that was ever signed for it, oldest first. */
export interface TransactionWithAttempts {
  readonly transaction: Transaction
  readonly attempts: readonly Attempt[]
}
