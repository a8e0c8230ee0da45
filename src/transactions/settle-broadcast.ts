import type { BroadcastResult } from '../chains/answer.ts'
import type { Attempt, Draft } from '../chains/attempt.ts'
import { openAttempts, reservation } from './open-attempts.ts'
import { WATCHED_MS } from './patience.ts'
import type { AttemptNews } from './store.ts'
import type { Transaction, TransactionWithAttempts } from './transaction.ts'
import { nextStatus } from './transitions.ts'

/**
 * How long until the same bytes are offered again when a node took them and nothing was heard since, in ms. Pools
 * forget under pressure and after restarts; offering known bytes again costs one call.
 */
const REPEAT_MS = 30_000

/** How long until the same bytes are offered again when no node took them, in ms. */
const RETRY_MS = 1_000

/** How long until what was too cheap is priced again, in ms: a ledger or two, so that there are new prices to follow. */
const REPRICE_MS = 5_000

interface Settled {
  readonly transaction: Transaction
  readonly outcome: AttemptNews
}

interface Offered {
  readonly item: TransactionWithAttempts
  readonly attempt: Attempt
  readonly result: BroadcastResult
  readonly now: Date
  readonly costOf: (draft: Draft) => bigint
  /** How long the attempt may wait in a pool before its fee is raised; undefined when it is not raised at all. */
  readonly raiseAfterMs?: number | undefined
  /** Whether the chain's content has an end of its own; then what is too cheap is signed anew, with the same nonce. */
  readonly lapses?: boolean
  /** Whether somebody else has signed it: then nothing else of ours can take its place. */
  readonly foreign?: boolean
  /** Whether it has a nonce that a no-op could take. */
  readonly numbered?: boolean
  /** How soon bytes that a node took are offered again; half a minute when absent. */
  readonly offerAgainAfterMs?: number | undefined
}

/** What a node's answer makes of a transaction. Pure. */
export function settleBroadcast({
  item,
  attempt,
  result,
  now,
  costOf,
  raiseAfterMs,
  lapses = false,
  foreign = false,
  numbered = true,
  offerAgainAfterMs,
}: Offered): Settled {
  const { transaction } = item
  const outcome = { transactionId: transaction.id, number: attempt.number }
  switch (result.kind) {
    case 'accepted':
      return {
        transaction: taken({ item, attempt, result, now, costOf, raiseAfterMs, offerAgainAfterMs }),
        outcome: { ...outcome, outcome: 'broadcast', broadcastAt: now },
      }
    case 'nonce_used':
    case 'later':
    case 'unknown':
      return {
        transaction: deferred(transaction, `${REASONS[result.kind]}: ${result.detail}`, now),
        outcome: { ...outcome, error: result.detail },
      }
    case 'underpriced':
      if (earlierInPool(item, attempt) === undefined && lapses) {
        return {
          transaction: repriced(transaction, result.detail, now),
          outcome: { ...outcome, outcome: 'refused', error: result.detail },
        }
      }
      if (earlierInPool(item, attempt) === undefined) {
        // The pool holds something of this nonce that we do not know; only time tells, so the bytes stay open.
        return {
          transaction: deferred(
            transaction,
            `The pool holds another transaction with this nonce: ${result.detail}`,
            now,
          ),
          outcome: { ...outcome, error: result.detail },
        }
      }
      return {
        transaction: refusedByNode({ item, attempt, detail: result.detail, now, costOf }),
        outcome: { ...outcome, outcome: 'refused', error: result.detail },
      }
    case 'refused':
      if (!numbered) {
        return {
          transaction: givenUp(transaction, result.detail, now),
          outcome: { ...outcome, error: result.detail },
        }
      }
      if (foreign) {
        return {
          transaction: {
            ...deferred(transaction, `The node refuses it: ${result.detail}`, now),
            nextRunAt: after(now, REPEAT_MS),
          },
          outcome: { ...outcome, error: result.detail },
        }
      }
      return {
        transaction: refusedByNode({ item, attempt, detail: result.detail, now, costOf }),
        outcome: { ...outcome, outcome: 'refused', error: result.detail },
      }
  }
}

const REASONS = {
  nonce_used: 'The chain is past this nonce; the receipts are being asked for',
  later: 'The node does not take it yet',
  unknown: 'The node did not answer; the same bytes are offered again',
} as const

function taken({
  item: { transaction },
  attempt,
  now,
  raiseAfterMs,
  offerAgainAfterMs,
}: Offered): Transaction {
  const heldSince = attempt.broadcastAt ?? now
  const raise = raiseAfterMs === undefined ? undefined : after(heldSince, raiseAfterMs)
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'broadcast'),
    statusReason:
      transaction.status === 'sent' && transaction.intent === 'request'
        ? undefined
        : transaction.statusReason,
    sentAt: transaction.sentAt ?? now,
    nextRunAt: earliest(now, offerAgainAfterMs ?? REPEAT_MS, [raise, endOf(transaction, now)]),
  }
}

/** Passed while the node was answering, it is still to be acted on, soon. */
function endOf({ intent, request: { validUntil } }: Transaction, now: Date): Date | undefined {
  if (intent !== 'request' || validUntil === undefined) return undefined
  return validUntil > now ? validUntil : after(now, RETRY_MS)
}

/** In time for the repetition, and for whatever else is to happen before it. */
function earliest(now: Date, repeatMs: number, times: readonly (Date | undefined)[]): Date {
  const repeat = after(now, repeatMs)
  const ahead = times.filter((time) => time !== undefined && time > now && time < repeat)
  return ahead.reduce<Date>((first, time) => (time !== undefined && time < first ? time : first), repeat)
}

function deferred(transaction: Transaction, statusReason: string, now: Date): Transaction {
  const status = nextStatus(transaction.status, 'deferred')
  return { ...transaction, status, statusReason, nextRunAt: after(now, RETRY_MS) }
}

/**
 * Bytes that no node will ever take, without a nonce that anything waits for: nothing is signed in their place, and they are
 * offered no more. Whether one took them all the same, the chain tells when they have lapsed.
 */
function givenUp(transaction: Transaction, detail: string, now: Date): Transaction {
  const intent = transaction.intent === 'request' ? 'abandon' : transaction.intent
  const nextRunAt = after(now, WATCHED_MS)
  return { ...deferred(transaction, `The node refused it for good: ${detail}`, now), intent, nextRunAt }
}

/** The network asks for more at present. The next version has the same nonce, so only one of them can be included. */
function repriced(transaction: Transaction, detail: string, now: Date): Transaction {
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: `The network asks for a higher fee at present: ${detail}`,
    currentAttempt: undefined,
    nextRunAt: after(now, REPRICE_MS),
  }
}

function earlierInPool({ attempts }: TransactionWithAttempts, attempt: Attempt): Attempt | undefined {
  return openAttempts(attempts).findLast((other) => other.number < attempt.number)
}

interface RefusedOffer extends Omit<Offered, 'result'> {
  /** What the node said. */
  readonly detail: string
}

/**
 * An earlier attempt that may be in a pool stays the one that counts. Without one, "refused" can never become
 * better: the nonce is closed by a no-op.
 */
function refusedByNode({ item, attempt, detail, now, costOf }: RefusedOffer): Transaction {
  const { transaction } = item
  const earlier = earlierInPool(item, attempt)
  if (earlier) {
    return {
      ...transaction,
      status: nextStatus(transaction.status, 'broadcast'),
      statusReason: `Attempt ${attempt.number} was refused by the node (${detail}); attempt ${earlier.number} still counts.`,
      currentAttempt: earlier.number,
      cost: reservation(
        openAttempts(item.attempts.filter((other) => other !== attempt)).map((other) => other.draft),
        costOf,
      ),
      nextRunAt: after(now, REPEAT_MS),
    }
  }
  return {
    ...transaction,
    status: nextStatus(transaction.status, 'returned'),
    statusReason: `The node refused it for good (${detail}); a no-op takes its nonce.`,
    intent: transaction.intent === 'request' ? 'abandon' : transaction.intent,
    currentAttempt: undefined,
    // A no-op that is refused too needs another market, not another try at once.
    nextRunAt: transaction.intent === 'request' ? now : after(now, REPEAT_MS),
  }
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms)
}
