import type { TransactionStatus } from './transaction.ts'

/** What can happen to a transaction. */
export type TransactionEvent =
  | 'numbered' // it was given a nonce
  | 'signed' // bytes and hash are stored
  | 'broadcast' // a node took an attempt
  | 'deferred' // a node did not take it, or did not answer; the same bytes go out again
  | 'returned' // no attempt can ever be taken; new content has to be signed for the nonce
  | 'replaced' // the caller, or the service, put new content or a higher fee in its place
  | 'included' // a block holds one of the attempts
  | 'reorged' // that block is no longer in the chain
  | 'confirmed' // final as asked
  | 'canceled' // final: the no-op of a cancel took the nonce, or nothing was ever signed
  | 'expired' // final: valid_until passed first
  | 'failed' // final: reverted, abandoned, or refused before anything was signed

/** The legal moves. A move that is not here is a fault of ours, never a state of the caller's. */
const MOVES: Readonly<Record<TransactionStatus, Partial<Record<TransactionEvent, TransactionStatus>>>> = {
  pending: {
    numbered: 'pending',
    deferred: 'pending',
    returned: 'pending',
    replaced: 'pending',
    signed: 'sent',
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

/** The status after the event. Throws on a move that the table does not have. */
export function nextStatus(status: TransactionStatus, event: TransactionEvent): TransactionStatus {
  const next = MOVES[status][event]
  if (next === undefined) throw new Error(`a ${status} transaction cannot be ${event}`)
  return next
}

/** Statuses that never change again. */
export const FINAL_STATUSES: readonly TransactionStatus[] = ['confirmed', 'canceled', 'expired', 'failed']

/** Statuses in which the caller can still put something else in its place. */
export const REPLACEABLE_STATUSES: readonly TransactionStatus[] = ['pending', 'sent', 'submitted']

export function isFinal(status: TransactionStatus): boolean {
  return FINAL_STATUSES.includes(status)
}

export function isReplaceable(status: TransactionStatus): boolean {
  return REPLACEABLE_STATUSES.includes(status)
}
