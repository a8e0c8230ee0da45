import { v7 } from 'uuid'
import type { Attempt } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { After } from './after.ts'

/** Every status of a transaction; the database accepts no other. */
export const TRANSACTION_STATUSES = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
] as const

/**
 * The status of a transaction. `transitions.ts` has the transitions between them; a type test keeps it equal
 * to the contract's.
 */
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number]

/** Every purpose of a content; the database accepts no other. */
export const PURPOSES = [
  'request',
  'successor',
  'cancel',
  'expire',
  'abandon',
  'gap_filler',
  'setup',
] as const

/**
 * The purpose of the newest content. `request`: the caller's content · `successor`: the caller's replacement,
 * which waits until the earlier bytes expire · `cancel`: the caller canceled, so a no-op is signed, or
 * nothing after the earlier bytes expire · `expire`: a no-op, because `valid_until` passed · `abandon`: a
 * no-op, because no node accepts the content · `gap_filler`: a no-op of the service that closes a nonce gap ·
 * `setup`: a transaction of the service that others depend on.
 */
export type Purpose = (typeof PURPOSES)[number]

/** A block with a transaction. On Stellar a ledger, on Solana the block of a slot. */
export interface Block {
  readonly number: bigint
  readonly hash: string
  /** The time that the block states; absent as long as no node has told it. */
  readonly time?: Date | undefined
}

/** The record of a request, from acceptance to a final status. */
export interface Transaction {
  readonly id: string
  readonly relayerId: string
  /** The account that sends it, as it was when the request was accepted. */
  readonly network: string
  readonly from: string
  readonly status: TransactionStatus
  readonly statusReason?: string | undefined
  readonly createdAt: Date
  /** The time when a node accepted the first attempt. */
  readonly sentAt?: Date | undefined
  readonly confirmedAt?: Date | undefined
  readonly request: ChainRequest
  readonly purpose: Purpose
  /** Gas estimated when the request was accepted. It saves a second simulation. */
  readonly estimatedGas?: bigint | undefined
  /**
   * The account whose nonce it uses: the relayer's own account, a channel account, or that of a third party.
   * Present with `nonce`.
   */
  readonly sourceAccount?: string | undefined
  /**
   * Absent until a nonce is assigned. No other transaction gets this nonce, unless the chain proves that no
   * attempt with it can be included (I2).
   */
  readonly nonce?: bigint | undefined
  /** Every change increments it. A writer that read an older version changes nothing. */
  readonly version: number
  /**
   * Number of the attempt that the record shows: the newest, or the included one once the chain has decided.
   */
  readonly currentAttempt?: number | undefined
  /**
   * The maximum that it can still take from the account, in the smallest unit; 0 after the chain has decided.
   */
  readonly cost: bigint
  /** It takes from the budget of an API key or a relayer. */
  readonly isBudgeted?: boolean | undefined
  /** The id of the relayer that it refills; only for top-ups. */
  readonly topUpOf?: string | undefined
  /**
   * The id of the API key that requested it, `service` for a top-up; absent for other transactions of the
   * service.
   */
  readonly requestedBy?: string | undefined
  /** Open transactions of the same lane of a relayer are of one account, in the order of acceptance. */
  readonly lane?: string | undefined
  /** The caller's own name for the transaction, which the service gives no meaning. */
  readonly reference?: string | undefined
  /** The caller's own text about the transaction, likewise. */
  readonly description?: string | undefined
  /** The id of the schedule whose run it is. */
  readonly scheduleId?: string | undefined
  /** The user of the caller for whom it was requested (`User-Id`). */
  readonly userId?: string | undefined
  /**
   * The trace context of the request that created it (the `traceparent` of W3C); absent if traces were off.
   */
  readonly traceParent?: string | undefined
  /**
   * True while it waits until another API key decides: nothing numbers or signs it, and its cost is not
   * reserved.
   */
  readonly awaitsApproval?: boolean | undefined
  /**
   * True while no block could include it at the price that its caller named: nothing numbers or signs it, its
   * cost is not reserved, and others overtake it.
   */
  readonly awaitsPrice?: boolean | undefined
  /** The other transaction that the caller named as one to wait for. */
  readonly after?: After | undefined
  /**
   * The id of the transaction that it still waits for: nothing numbers or signs it, its cost is not reserved,
   * and others overtake it.
   */
  readonly awaitsTransaction?: string | undefined
  /** The time when its wait for another transaction was over. */
  readonly releasedAt?: Date | undefined
  /** The block that includes `currentAttempt`; absent if no block of the chain does. */
  readonly block?: Block | undefined
  /** The earliest time at which a worker processes it again. */
  readonly nextRunAt: Date
  /** The time since which no endpoint can prove whether it was included, so that an operator must decide. */
  readonly undecidedSince?: Date | undefined
  /** The time when it was found to block its account for too long. */
  readonly stuckSince?: Date | undefined
  /** True when its bytes go to private endpoints only, until `madePublicAt`. It never becomes false again. */
  readonly isPrivate?: boolean | undefined
  /** The newest block when its bytes were first sent to private endpoints. */
  readonly privateSinceBlock?: bigint | undefined
  /** The time from which its bytes go to the ordinary endpoints as well. */
  readonly madePublicAt?: Date | undefined
  /** The time when the block of the confirmed transaction was found to be missing from the chain. */
  readonly reorganizedAt?: Date | undefined
  /** The hash that an operator stated of what was included, where no attempt has it. */
  readonly statedHash?: string | undefined
}

/** A transaction with every attempt that was ever signed for it, oldest first. */
export interface TransactionWithAttempts {
  readonly transaction: Transaction
  readonly attempts: readonly Attempt[]
}

/**
 * The fields of a transaction that ends before anything is signed, or when nothing of what was signed can be
 * included.
 */
export const ENDED_UNSIGNED = {
  awaitsApproval: undefined,
  awaitsPrice: undefined,
  awaitsTransaction: undefined,
  sourceAccount: undefined,
  nonce: undefined,
  cost: 0n,
} satisfies Partial<Transaction>

/**
 * Makes the id of a new transaction: a UUID of version 7 (RFC 9562), which begins with the time in ms. Ids of
 * the same time are neighbours in every index that begins with one. Random ids would spread them over the
 * whole index, whose pages do not stay in the memory of the database when the table grows: each commit would
 * read and log more of them.
 */
export function newTransactionId(): string {
  return v7()
}
