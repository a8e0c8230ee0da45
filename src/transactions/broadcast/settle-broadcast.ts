import { openAttempts, reservation } from '../model/open-attempts.ts'
import { isPriceNamed, WATCHED_MS } from '../model/speed-up-delay.ts'
import type { Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import type { AttemptNews } from '../store/attempts-store.ts'

import {
  type BroadcastCase,
  chooseFollowUp,
  earlierInPool,
  type FollowUp,
  type Unaccepted,
} from './follow-up.ts'

/**
 * How long until the same bytes are offered again when a node took them and nothing was heard since, in ms. Pools
 * forget under pressure and after restarts; offering known bytes again costs one call.
 */
const REPEAT_MS = 30_000

/** How long until the same bytes are offered again when no node took them, in ms. */
const RETRY_MS = 1_000

/** How long until what was too cheap is priced again, in ms: a ledger or two, so that there are new prices to follow. */
const REPRICE_MS = 5_000

/**
 * Where nothing lapses, each refused attempt is kept for ever: after this many, the wait doubles with each one, so often at most. That
 * makes 160 s in the end, and some hundred attempts a day in the worst case.
 */
const PROMPT_ATTEMPTS = 4
const MAX_DOUBLINGS = 5

/** What is to be written of a transaction and its attempt. */
export interface Settled {
  readonly transaction: Transaction
  readonly outcome: AttemptNews
}

/** What a node's answer makes of a transaction. Pure. */
export function settleBroadcast(attempted: BroadcastCase): Settled {
  const { item, attempt, result, now } = attempted
  const about = { transactionId: item.transaction.id, number: attempt.number }
  if (result.kind === 'accepted')
    return { transaction: accepted(attempted), outcome: { ...about, outcome: 'broadcast', broadcastAt: now } }
  const followUp = chooseFollowUp(attempted, result)
  const refused = followUp !== 'retry' && followUp !== 'retry_later' && followUp !== 'give_up'
  return {
    transaction: FOLLOW_UPS[followUp](attempted, result),
    outcome: { ...about, ...(refused && { outcome: 'refused' }), error: result.detail },
  }
}

const FOLLOW_UPS: Readonly<Record<FollowUp, (attempted: BroadcastCase, result: Unaccepted) => Transaction>> =
  {
    retry: deferred,
    retry_later: (attempted, result) => ({
      ...deferred(attempted, result),
      nextRunAt: after(attempted.now, REPEAT_MS),
    }),
    give_up: givenUp,
    reprice: repriced,
    reestimate: reestimated,
    fall_back: fallenBack,
    close: closed,
  }

const REASONS: Readonly<Record<Unaccepted['kind'], string>> = {
  nonce_used: 'The chain is past this nonce; the receipts are being asked for',
  later: 'The node does not take it yet',
  unknown: 'The node did not answer; the same bytes are offered again',
  underpriced: 'The pool holds another transaction with this nonce',
  too_cheap: 'The network asks for a higher fee at present',
  too_dear: 'No endpoint lets so high a fee pass',
  gas_limit: 'The node refuses its gas limit',
  refused: 'The node refuses it',
}

function accepted({
  item: { transaction },
  attempt,
  now,
  raiseAfterMs,
  rebroadcastAfterMs,
}: BroadcastCase): Transaction {
  const broadcastSince = attempt.broadcastAt ?? now
  const raise = raiseAfterMs === undefined ? undefined : after(broadcastSince, raiseAfterMs)
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'broadcast'),
    statusReason:
      transaction.status === 'sent' && transaction.purpose === 'request'
        ? undefined
        : transaction.statusReason,
    sentAt: transaction.sentAt ?? now,
    nextRunAt: earliest(now, rebroadcastAfterMs ?? REPEAT_MS, [raise, endOf(transaction, now)]),
  }
}

/** Passed while the node was answering, it is still to be acted on, soon. */
function endOf({ purpose, request: { validUntil } }: Transaction, now: Date): Date | undefined {
  if (purpose !== 'request' || validUntil === undefined) return undefined
  return validUntil > now ? validUntil : after(now, RETRY_MS)
}

/** In time for the repetition, and for whatever else is to happen before it. */
function earliest(now: Date, repeatMs: number, times: readonly (Date | undefined)[]): Date {
  const repeat = after(now, repeatMs)
  const ahead = times.filter((time) => time !== undefined && time > now && time < repeat)
  return ahead.reduce<Date>((first, time) => (time !== undefined && time < first ? time : first), repeat)
}

function deferred({ item: { transaction }, now }: BroadcastCase, { kind, detail }: Unaccepted): Transaction {
  // Prices move with blocks: there is nothing to be had from asking each second.
  const isPriced = kind === 'too_cheap' || kind === 'too_dear'
  const named =
    isPriced && isPriceNamed(transaction) ? '; its price was named by the caller and is not changed' : ''
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'deferred'),
    statusReason: `${REASONS[kind]}${named}: ${detail}`,
    nextRunAt: after(now, isPriced ? REPRICE_MS : RETRY_MS),
  }
}

/**
 * Bytes that no node will ever take, without a nonce that anything waits for: nothing is signed in their place, and they are
 * offered no more. Whether one took them all the same, the chain tells when they have lapsed.
 */
function givenUp({ item: { transaction }, now }: BroadcastCase, { detail }: Unaccepted): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'deferred'),
    statusReason: `The node refused it for good: ${detail}`,
    purpose: transaction.purpose === 'request' ? 'abandon' : transaction.purpose,
    nextRunAt: after(now, WATCHED_MS),
  }
}

/** The network asks for more at present. The next version has the same nonce, so only one of them can be included. */
function repriced(
  { item: { transaction, attempts }, now, expires = false }: BroadcastCase,
  { kind, detail }: Unaccepted,
): Transaction {
  const refused = attempts.filter(({ outcome }) => outcome === 'refused').length
  const doublings = expires ? 0 : Math.min(Math.max(0, refused - PROMPT_ATTEMPTS), MAX_DOUBLINGS)
  const reason = kind === 'too_dear' ? REASONS.too_dear : REASONS.too_cheap
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: `${reason}: ${detail}`,
    currentAttempt: undefined,
    nextRunAt: after(now, REPRICE_MS * 2 ** doublings),
  }
}

/** What the gas limit was estimated from has changed. Only one version with this nonce can be included. */
function reestimated({ item: { transaction }, now }: BroadcastCase, { detail }: Unaccepted): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: `Its gas is estimated anew, because the node refused the gas limit: ${detail}`,
    currentAttempt: undefined,
    estimatedGas: undefined,
    nextRunAt: after(now, RETRY_MS),
  }
}

/** An earlier attempt that may be in a pool stays the one that counts. */
function fallenBack({ item, attempt, now, costOf }: BroadcastCase, { detail }: Unaccepted): Transaction {
  const { transaction, attempts } = item
  const earlier = earlierInPool(item, attempt)
  const open = openAttempts(attempts.filter((other) => other !== attempt))
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'broadcast'),
    statusReason: `Attempt ${attempt.number} was refused by the node (${detail}); attempt ${earlier?.number} still counts.`,
    currentAttempt: earlier?.number,
    cost: reservation(
      open.map(({ draft }) => draft),
      costOf,
    ),
    nextRunAt: after(now, REPEAT_MS),
  }
}

/** Without an earlier attempt, "refused" can never become better: a no-op closes the nonce. */
function closed({ item: { transaction }, now }: BroadcastCase, { detail }: Unaccepted): Transaction {
  const isRequest = transaction.purpose === 'request'
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: `The node refused it for good (${detail}); a no-op takes its nonce.`,
    purpose: isRequest ? 'abandon' : transaction.purpose,
    currentAttempt: undefined,
    // A no-op that is refused too needs another market, not another try at once.
    nextRunAt: isRequest ? now : after(now, REPEAT_MS),
  }
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms)
}
