import type { Attempt } from '../../chains/attempt.ts'
import { isNoop, openAttempts, reservation } from '../model/attempts.ts'
import { isPriceNamed, WATCHED_MS } from '../model/due.ts'
import { afterCause, fallBackIn, fallBackReason, noopReason, noopReasonIn } from '../model/status-reasons.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import type { AttemptNews } from '../store/attempts-store.ts'
import {
  type BroadcastCase,
  chooseFollowUp,
  earlierInPool,
  type FollowUp,
  isAboutPrice,
  type Unaccepted,
} from './follow-up.ts'
import { comparedAttempt, isComparison, refusalsOf, retryAfterMs } from './unclear.ts'

/**
 * Time in ms until accepted bytes are broadcast again. Mempools drop transactions under pressure and after
 * restarts, and broadcasting known bytes costs one call.
 */
const REBROADCAST_MS = 30_000

/** Time in ms until bytes that no node accepted are broadcast again. */
const RETRY_MS = 1_000

/**
 * Time in ms until an underpriced transaction is priced again: one or two ledgers, so that there are new
 * prices.
 */
const REPRICE_MS = 5_000

/**
 * On chains without expiry, every refused attempt is stored for ever. After this many refusals the delay
 * doubles with each one, up to `MAX_DOUBLINGS` times: 160 s in the end, and a few hundred attempts a day in
 * the worst case.
 */
const ATTEMPTS_BEFORE_BACKOFF = 4
const MAX_DOUBLINGS = 5

/** The changes to write to a transaction and its attempt. */
export interface Settled {
  readonly transaction: Transaction
  readonly outcome: AttemptNews
}

/** Returns the changes that follow from a node's reply. Pure. */
export function applyResult(attempted: BroadcastCase): Settled {
  const { item, attempt, result, now } = attempted
  const about = { transactionId: item.transaction.id, number: attempt.number }
  if (result.kind === 'accepted')
    return {
      transaction: accepted(attempted),
      outcome: {
        ...about,
        outcome: 'broadcast',
        broadcastAt: now,
        refusals: attempt.refusals === undefined ? undefined : 0,
      },
    }
  const followUp = chooseFollowUp(attempted, result)
  const isOpen = followUp === 'retry' || followUp === 'retry_later' || followUp === 'give_up'
  // A refused attempt whose bytes were signed again remains refused until a node accepts it.
  const outcome = isOpen && attempt.outcome !== 'refused' ? {} : { outcome: 'refused' as const }
  return {
    transaction: keepingDoubt(FOLLOW_UPS[followUp](attempted, result), item.transaction),
    outcome: {
      ...about,
      ...outcome,
      error: result.detail,
      refusals: refusalsAfter(attempt, followUp, result),
    },
  }
}

/** The reason of an undecided transaction says what an operator must decide; no node's reply changes that. */
function keepingDoubt(settled: Transaction, { undecidedSince, statusReason }: Transaction): Transaction {
  return undecidedSince === undefined ? settled : { ...settled, statusReason }
}

/** Silence changes nothing, and known wording restarts the count. */
function refusalsAfter(
  { refusals = 0 }: Attempt,
  followUp: FollowUp,
  { kind }: Unaccepted,
): number | undefined {
  if (kind === 'unclear' || followUp === 'end_comparison') return refusals + 1
  return kind === 'unknown' || kind === 'withheld' || refusals === 0 ? undefined : 0
}

const FOLLOW_UPS: Readonly<Record<FollowUp, (attempted: BroadcastCase, result: Unaccepted) => Transaction>> =
  {
    retry: deferred,
    retry_later: (attempted, result) => ({
      ...deferred(attempted, result),
      nextRunAt: after(attempted.now, REBROADCAST_MS),
    }),
    give_up: givenUp,
    reprice: repriced,
    reestimate: reestimated,
    prepare_again: preparedAgain,
    fall_back: fallenBack,
    close: closed,
    end_comparison: comparisonEnded,
  }

const REASONS: Readonly<Record<Unaccepted['kind'], string>> = {
  nonce_used: 'The chain has passed this nonce; the service reads the receipts',
  later: 'The node does not accept it yet',
  unclear: 'The nodes refuse it, and may accept it later',
  unknown: 'The node did not answer; the same bytes are broadcast again',
  underpriced: 'The pool holds another transaction with this nonce',
  too_cheap: 'The network requires a higher fee',
  too_dear: 'No endpoint accepts a fee this high',
  gas_limit: 'The node refuses its gas limit',
  refused: 'The node refuses it',
  withheld: 'It is not broadcast, because it is private',
}

function accepted({ item, attempt, now, raiseAfterMs, rebroadcastAfterMs }: BroadcastCase): Transaction {
  const { transaction } = item
  const broadcastSince = attempt.broadcastAt ?? now
  const raise = raiseAfterMs === undefined ? undefined : after(broadcastSince, raiseAfterMs)
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'broadcast'),
    ...acceptedContent(item, attempt),
    ...(transaction.sentAt === undefined && { sentAt: now }),
    nextRunAt: earliest(now, rebroadcastAfterMs ?? REBROADCAST_MS, [raise, endOf(transaction, now)]),
  }
}

/** A node takes the no-op and not the content, so the content is what it refuses. */
function acceptedContent(
  item: TransactionWithAttempts,
  attempt: Attempt,
): Pick<Transaction, 'purpose' | 'statusReason'> {
  const { status, purpose, statusReason } = item.transaction
  if (isComparison(item.transaction, attempt))
    return {
      purpose: 'abandon',
      statusReason: noopReason('refused', comparedAttempt(item)?.error),
    }
  const isOver = status === 'sent' && purpose === 'request'
  if (isOver) return { purpose, statusReason: fallBackIn(statusReason) }
  // The wait of a no-op is over, and its cause is not.
  return { purpose, statusReason: (isNoop(purpose) ? noopReasonIn(statusReason) : undefined) ?? statusReason }
}

/** The time when `valid_until` must be handled; soon, if it passed while the node was answering. */
function endOf({ purpose, request: { validUntil } }: Transaction, now: Date): Date | undefined {
  if (purpose !== 'request' || validUntil === undefined) return undefined
  return validUntil > now ? validUntil : after(now, RETRY_MS)
}

/** The first of the rebroadcast and the other future times. */
function earliest(now: Date, rebroadcastMs: number, times: readonly (Date | undefined)[]): Date {
  const rebroadcast = after(now, rebroadcastMs)
  const ahead = times.filter((time) => time !== undefined && time > now && time < rebroadcast)
  return ahead.reduce<Date>((first, time) => (time !== undefined && time < first ? time : first), rebroadcast)
}

function deferred({ item, now }: BroadcastCase, { kind, detail }: Unaccepted): Transaction {
  const { transaction } = item
  const named =
    isAboutPrice(kind) && isPriceNamed(transaction) ? '; the caller set its price, so it is not changed' : ''
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'deferred'),
    statusReason: afterCause(transaction, `${REASONS[kind]}${named}: ${detail}`),
    nextRunAt: after(now, delayAfter(item, kind)),
  }
}

/** Prices change with blocks, so a retry each second would be useless. */
function delayAfter(item: TransactionWithAttempts, kind: Unaccepted['kind']): number {
  if (isAboutPrice(kind)) return REPRICE_MS
  return kind === 'unclear' ? retryAfterMs(refusalsOf(item) + 1) : RETRY_MS
}

/**
 * No node accepts these bytes, and no other transaction waits for their nonce. Nothing is signed in their
 * place, and they are not broadcast again. After they expire, the chain shows whether a node accepted them
 * after all.
 */
function givenUp({ item: { transaction }, now }: BroadcastCase, { detail }: Unaccepted): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'deferred'),
    statusReason: `The node refused it permanently: ${detail}`,
    purpose: transaction.purpose === 'request' ? 'abandon' : transaction.purpose,
    nextRunAt: after(now, WATCHED_MS),
  }
}

/**
 * The network requires a higher fee. The next attempt has the same nonce, so only one of them can be
 * included.
 */
function repriced(
  { item: { transaction, attempts }, now, expires = false }: BroadcastCase,
  { kind, detail }: Unaccepted,
): Transaction {
  const refused = attempts.filter(({ outcome }) => outcome === 'refused').length
  const doublings = expires ? 0 : Math.min(Math.max(0, refused - ATTEMPTS_BEFORE_BACKOFF), MAX_DOUBLINGS)
  const reason = kind === 'too_dear' ? REASONS.too_dear : REASONS.too_cheap
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: afterCause(transaction, `${reason}: ${detail}`),
    currentAttempt: undefined,
    nextRunAt: after(now, REPRICE_MS * 2 ** doublings),
  }
}

/** The chain state has changed since the gas estimate. Only one attempt with this nonce can be included. */
function reestimated({ item: { transaction }, now }: BroadcastCase, { detail }: Unaccepted): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: afterCause(
      transaction,
      `Its gas is estimated again, because the node refused the gas limit: ${detail}`,
    ),
    currentAttempt: undefined,
    estimatedGas: undefined,
    nextRunAt: after(now, RETRY_MS),
  }
}

/**
 * The reason may be its price or its gas: both are as old as its signature. Only one attempt with this nonce
 * can be included.
 */
function preparedAgain({ item: { transaction }, now }: BroadcastCase, { detail }: Unaccepted): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: `It is priced and estimated again, because the nodes refuse it in unknown wording: ${detail}`,
    currentAttempt: undefined,
    estimatedGas: undefined,
    nextRunAt: after(now, RETRY_MS),
  }
}

/**
 * Nodes did not accept the no-op either, so nothing is known about the content, which becomes current again.
 * An underpriced no-op shows that a pool has the content; anything else is reported as an incident, because
 * the account is blocked.
 */
function comparisonEnded(
  { item, attempt, now, costOf }: BroadcastCase,
  { kind, detail }: Unaccepted,
): Transaction {
  const { transaction, attempts } = item
  const compared = comparedAttempt(item)
  const open = openAttempts(attempts).filter((other) => other !== attempt && other !== compared)
  const shared = {
    ...transaction,
    status: nextStatus(transaction.status, 'deferred'),
    currentAttempt: compared?.number,
    cost: reservation(
      [...open, ...(compared ? [compared] : [])].map(({ draft }) => draft),
      costOf,
    ),
    nextRunAt: after(now, kind === 'underpriced' ? RETRY_MS : retryAfterMs(refusalsOf(item))),
  }
  if (kind === 'underpriced')
    return { ...shared, statusReason: `${REASONS.underpriced}, which a no-op could not replace: ${detail}` }
  return {
    ...shared,
    statusReason: `The nodes refuse everything with its nonce, including a no-op (${detail}); the service keeps trying. Their reply: ${compared?.error ?? 'nothing'}`,
    stuckSince: transaction.stuckSince ?? now,
  }
}

/** An earlier attempt that may be in a mempool becomes the current one again. */
function fallenBack({ item, attempt, now, costOf }: BroadcastCase, { detail }: Unaccepted): Transaction {
  const { transaction, attempts } = item
  const earlier = earlierInPool(item, attempt)
  const open = openAttempts(attempts.filter((other) => other !== attempt))
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'broadcast'),
    statusReason: fallBackReason(attempt.number, detail, earlier?.number),
    currentAttempt: earlier?.number,
    cost: reservation(
      open.map(({ draft }) => draft),
      costOf,
    ),
    nextRunAt: after(now, REBROADCAST_MS),
  }
}

/** There is no earlier attempt, and a retry cannot help, so a no-op uses the nonce (I5). */
function closed({ item: { transaction }, now }: BroadcastCase, { kind, detail }: Unaccepted): Transaction {
  const isRequest = transaction.purpose === 'request'
  const reason = isAboutPrice(kind) ? noopReason('priced_out', detail) : noopReason('refused', detail)
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: isNoop(transaction.purpose)
      ? afterCause(transaction, `${REASONS[kind]}: ${detail}`)
      : reason,
    purpose: isRequest ? 'abandon' : transaction.purpose,
    currentAttempt: undefined,
    // A refused no-op needs another gas price, so an immediate retry is useless.
    nextRunAt: isRequest ? now : after(now, REBROADCAST_MS),
  }
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms)
}
