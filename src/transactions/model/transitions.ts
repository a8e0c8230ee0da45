import type { TransactionStatus } from './transaction.ts'

/** Events that change the status of a transaction. */
export type TransactionEvent =
  | 'approved' // another API key let it be sent
  | 'released' // the transaction that it waited for came first
  | 'numbered' // it got a nonce
  | 'signed' // bytes and hash are stored
  | 'broadcast' // a node accepted an attempt
  | 'deferred' // a node did not accept it, or did not answer; the same bytes are broadcast again
  | 'returned' // no attempt can be included; new content has to be signed for the nonce
  | 'replaced' // the caller or the service signed new content or a higher fee in its place
  | 'included' // a block holds one of the attempts; of what is pending, an operator says so
  | 'reorged' // that block is no longer in the chain
  | 'confirmed' // final as asked
  | 'canceled' // final: the no-op of a cancel took the nonce, or nothing was ever signed
  | 'expired' // final: valid_until passed first
  | 'failed' // final: reverted, abandoned, or refused before anything was signed

/**
 * The allowed transitions. Any other transition is a fault in this service, never a mistake of the caller.
 */
const TRANSITIONS: Readonly<Record<TransactionStatus, Partial<Record<TransactionEvent, TransactionStatus>>>> =
  {
    pending: {
      approved: 'pending',
      released: 'pending',
      numbered: 'pending',
      deferred: 'pending',
      returned: 'pending',
      replaced: 'pending',
      signed: 'sent',
      included: 'mined',
      canceled: 'canceled',
      expired: 'expired',
      failed: 'failed',
    },
    sent: {
      replaced: 'sent',
      broadcast: 'submitted',
      deferred: 'sent',
      returned: 'pending',
      included: 'mined',
      canceled: 'canceled',
      expired: 'expired',
      failed: 'failed',
    },
    submitted: {
      replaced: 'sent',
      broadcast: 'submitted',
      deferred: 'submitted',
      returned: 'pending',
      included: 'mined',
      canceled: 'canceled',
      expired: 'expired',
      failed: 'failed',
    },
    mined: {
      included: 'mined',
      reorged: 'submitted',
      confirmed: 'confirmed',
      canceled: 'canceled',
      expired: 'expired',
      failed: 'failed',
    },
    confirmed: {},
    canceled: {},
    expired: {},
    failed: {},
  }

/**
 * Returns the status after the event. @throws Error for a transition that is not in the table
 */
export function nextStatus(status: TransactionStatus, event: TransactionEvent): TransactionStatus {
  const next = TRANSITIONS[status][event]
  if (next === undefined) throw new Error(`a ${status} transaction cannot be ${event}`)
  return next
}

/** Statuses that never change. */
export const FINAL_STATUSES: readonly TransactionStatus[] = ['confirmed', 'canceled', 'expired', 'failed']

/** Statuses in which the caller can still replace or cancel the transaction. */
const REPLACEABLE_STATUSES: readonly TransactionStatus[] = ['pending', 'sent', 'submitted']

/** Returns true if the status never changes. */
export function isFinal(status: TransactionStatus): boolean {
  return FINAL_STATUSES.includes(status)
}

/** Returns true if the caller can still replace or cancel the transaction. */
export function isReplaceable(status: TransactionStatus): boolean {
  return REPLACEABLE_STATUSES.includes(status)
}
