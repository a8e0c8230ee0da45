import type { Receipt } from '../../chains/answer.ts'
import type { Attempt, Draft } from '../../chains/attempt.ts'
import type { IncidentType } from '../../events/event.ts'
import { openAttempts, reservation } from '../model/open-attempts.ts'
import { contentKind, isNoop } from '../model/purpose.ts'
import type { Purpose, Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus, type TransactionEvent } from '../model/transitions.ts'
import type { OutcomeChange } from '../store/attempts-store.ts'

/** What the chain has made of a transaction, ready to be written. All functions here are pure. */
export interface Resolution {
  readonly transaction: Transaction
  readonly outcomes: readonly OutcomeChange[]
  /** What has to be announced about it beside the change. */
  readonly incident?: IncidentType
  /** The line whose counter has to follow the chain again, because a nonce that it gave was not used. */
  readonly freed?: { readonly relayerId: string; readonly address: string }
}

/** An attempt that a block holds. `reason` is there when it was reverted. */
export interface Inclusion {
  readonly attempt: Attempt
  readonly receipt: Receipt
  readonly reason: string | undefined
}

/** A block holds one of the attempts: the record shows that one from now on, whatever came after it. */
export function included(item: TransactionWithAttempts, { attempt, receipt, reason }: Inclusion): Resolution {
  const { transaction, attempts } = item
  return {
    transaction: {
      ...transaction,
      status: nextStatus(transaction.status, 'included'),
      statusReason: joined(sentByOthers(attempt, receipt), inclusionReason(item, attempt, reason)),
      currentAttempt: attempt.number,
      block: { number: receipt.blockNumber, hash: receipt.blockHash },
      cost: 0n,
      undecidedSince: undefined,
      stuckSince: undefined,
    },
    outcomes: attempts.flatMap((other) => {
      if (other.number === attempt.number)
        return [{ ...outcome(item, other, receipt.success ? 'mined' : 'reverted'), result: receipt.result }]
      return isClosed(other) ? [] : [outcome(item, other, 'superseded')]
    }),
  }
}

/** Said where the chain holds the attempt's content in the bytes of somebody else. */
function sentByOthers({ signed }: Attempt, { result }: Receipt): string | undefined {
  const { appliedHash, feeAccount } = result ?? {}
  if (appliedHash === undefined || appliedHash === signed.hash) return undefined
  const payer = feeAccount === undefined ? '' : `, and ${feeAccount} paid the fee`
  return `Somebody else sent the same signed content to the network: it was included once, as transaction ${appliedHash}${payer}.`
}

function joined(...sentences: readonly (string | undefined)[]): string | undefined {
  const said = sentences.filter((sentence) => sentence !== undefined)
  return said.length === 0 ? undefined : said.join(' ')
}

/** Can never be included, whatever becomes of the others. */
function isClosed({ outcome: known }: Attempt): boolean {
  return known === 'refused' || known === 'expired'
}

/** The block of the included attempt is gone: its bytes go out again, and every attempt is open again (I7). */
export function reorged(
  item: TransactionWithAttempts,
  { now, costOf }: { now: Date; costOf: (draft: Draft) => bigint },
): Resolution {
  const { transaction, attempts } = item
  const reopened = attempts.filter((attempt) => !isClosed(attempt) && attempt.nonce === transaction.nonce)
  return {
    transaction: {
      ...transaction,
      status: nextStatus(transaction.status, 'reorged'),
      statusReason: `Block ${transaction.block?.number} that included it is no longer in the chain; the same bytes are broadcast again.`,
      block: undefined,
      cost: reservation(
        reopened.map((attempt) => attempt.draft),
        costOf,
      ),
      nextRunAt: now,
    },
    outcomes: reopened.map((attempt) => outcome(item, attempt, 'broadcast')),
  }
}

/** Deep enough. What is included decides how it ends, not what was wanted last. */
export function finalised({ transaction, attempts }: TransactionWithAttempts, now: Date): Resolution {
  const attempt = attempts.find((other) => other.number === transaction.currentAttempt)
  const event = finalEvent(contentKind(attempts, transaction.currentAttempt), attempt?.outcome)
  return {
    transaction: { ...transaction, status: nextStatus(transaction.status, event), confirmedAt: now },
    outcomes: [],
  }
}

/**
 * The nonce was used by something that did not come from here, deep enough: none of the attempts can be included any
 * more. A request gets a fresh nonce, behind everything that has one, unless only its signer could give it one; a no-op has
 * nothing left to do.
 */
export function lost(
  item: TransactionWithAttempts,
  { now, reSignable }: { now: Date; reSignable: boolean },
): Resolution {
  const { transaction, attempts } = item
  const intended = LOST[transaction.purpose]
  const event = intended === 'returned' && !reSignable ? 'failed' : intended
  const fact = `Nonce ${transaction.nonce} was used by a transaction that did not come from this service`
  const shared = {
    ...reopened(transaction),
    status: nextStatus(transaction.status, event),
    cost: 0n,
    nextRunAt: now,
  }
  return {
    transaction:
      event === 'returned'
        ? {
            ...shared,
            statusReason: `${fact}; it gets a new one.`,
            stuckSince: undefined,
            sourceAccount: undefined,
            nonce: undefined,
            currentAttempt: undefined,
          }
        : { ...shared, statusReason: `${fact}; nothing of this one was executed.` },
    outcomes: openAttempts(attempts).map((attempt) => outcome(item, attempt, 'superseded')),
  }
}

/**
 * Every attempt has lapsed, and the chain has proved that it includes none of them. What the caller still wants is signed anew;
 * what is over, or what only the caller could sign again, ends.
 */
export function expired(
  { transaction, attempts }: TransactionWithAttempts,
  { now, over, externallySigned }: { now: Date; over: boolean; externallySigned: boolean },
): Resolution {
  const intended = LOST[transaction.purpose]
  const event = intended === 'returned' && (over || externallySigned) ? 'expired' : intended
  // What holds up the others does not keep a nonce that is free again.
  const isReleased = event === 'returned' && transaction.stuckSince !== undefined
  const shared = {
    ...reopened(transaction),
    status: nextStatus(transaction.status, event),
    cost: 0n,
    nextRunAt: now,
  }
  return {
    transaction:
      event === 'returned'
        ? {
            ...shared,
            ...(isReleased && { sourceAccount: undefined, nonce: undefined }),
            cost: transaction.cost,
            statusReason:
              transaction.purpose === 'successor'
                ? 'The earlier version was not included in its time; the new content takes its place.'
                : 'No block included it in its time; it is signed anew.',
            currentAttempt: undefined,
          }
        : { ...shared, sourceAccount: undefined, nonce: undefined, statusReason: EXPIRED[event] },
    outcomes: openAttempts(attempts).map((attempt) => outcome({ transaction, attempts }, attempt, 'expired')),
    ...((event !== 'returned' || isReleased) && !externallySigned && transaction.sourceAccount !== undefined
      ? { freed: { relayerId: transaction.relayerId, address: transaction.sourceAccount } }
      : {}),
  }
}

const EXPIRED: Readonly<Partial<Record<TransactionEvent, string>>> = {
  expired: 'Its time is over, and the chain has proved that it was not included.',
  canceled: 'Canceled by the caller; the chain has proved that it was not included.',
  failed: 'No node took it, and the chain has proved that it was not included.',
}

/** How it ends, or goes on, when the nonce is gone without any of the attempts. */
const LOST: Readonly<Record<Purpose, TransactionEvent>> = {
  request: 'returned',
  successor: 'returned',
  cancel: 'canceled',
  expire: 'expired',
  abandon: 'failed',
  gap_filler: 'canceled',
  setup: 'returned',
}

/** Without what was told of its attempts so far. */
function reopened(transaction: Transaction): Transaction {
  return { ...transaction, undecidedSince: undefined }
}

/** How a transaction ends when an attempt of this kind was included with this result. */
export function finalEvent(
  kind: Attempt['kind'] | undefined,
  result: Attempt['outcome'] | undefined,
): TransactionEvent {
  if (result === 'reverted') return 'failed'
  return (kind && FINAL_EVENTS[kind]) ?? 'confirmed'
}

/** No-ops that end a transaction otherwise than as asked. */
const FINAL_EVENTS: Readonly<Partial<Record<Attempt['kind'], TransactionEvent>>> = {
  cancel: 'canceled',
  expire: 'expired',
  abandon: 'failed',
}

const WANTED: Readonly<Record<Purpose, string>> = {
  request: 'its replacement',
  successor: 'its replacement',
  cancel: 'its cancellation',
  expire: 'the no-op that valid_until asked for',
  abandon: 'the no-op',
  gap_filler: 'the filler',
  setup: 'the errand',
}

function inclusionReason(
  item: TransactionWithAttempts,
  attempt: Attempt,
  reason: string | undefined,
): string | undefined {
  const { statusReason } = item.transaction
  const reverted = reason === undefined ? undefined : `Reverted on chain: ${reason}.`
  const loser = loserTo(item, attempt)
  if (loser === undefined) return reverted ?? (isAsMeant(item, attempt) ? statusReason : undefined)
  const lost = `Attempt ${attempt.number} was included before ${loser}, which has lost.`
  return reverted === undefined ? lost : `${lost} ${reverted}`
}

/** What is said of a no-op is untrue when the content before it was included, and it was never signed itself. */
function isAsMeant(
  { transaction: { purpose }, attempts }: TransactionWithAttempts,
  { number }: Attempt,
): boolean {
  return purpose !== 'request' && (!isNoop(purpose) || contentKind(attempts, number) === purpose)
}

/** What was wanted instead of the attempt that is included, where something was. */
function loserTo({ transaction, attempts }: TransactionWithAttempts, attempt: Attempt): string | undefined {
  const { purpose } = transaction
  const wanted = attempts.findLast((other) => other.kind !== 'speed_up' && other.outcome !== 'refused')
  if (wanted !== undefined && attempt.number < wanted.number)
    return `${WANTED[purpose]} (attempt ${wanted.number})`
  // It waited for the end of this attempt, and was never signed.
  const unsigned = purpose === 'successor' || (purpose === 'cancel' && attempt.kind !== 'cancel')
  return unsigned && attempt.kind !== 'speed_up' ? WANTED[purpose] : undefined
}

function outcome(
  { transaction }: TransactionWithAttempts,
  attempt: Attempt,
  value: Attempt['outcome'],
): OutcomeChange {
  return { transactionId: transaction.id, number: attempt.number, outcome: value }
}
