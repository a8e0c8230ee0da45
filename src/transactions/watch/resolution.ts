import type { Attempt } from '../../chains/attempt.ts'
import type { ExternalNonce } from '../../chains/capabilities.ts'
import type { IncidentType } from '../../events/event.ts'
import { contentKind, openAttempts } from '../model/attempts.ts'
import type { Block, Purpose, Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus, type TransactionEvent } from '../model/transitions.ts'
import type { OutcomeChange } from '../store/attempts-store.ts'
import { type Inclusion, inclusionReason } from './inclusion-reason.ts'

/** A decision of the chain about a transaction, ready to be written. All functions in this file are pure. */
export interface Resolution {
  readonly transaction: Transaction
  /** The new outcomes of its attempts. */
  readonly outcomes: readonly OutcomeChange[]
  /** An incident that is announced together with the change. */
  readonly incident?: IncidentType
  /**
   * The next version could be executed in addition to the earlier ones, so it is charged and approved again:
   * only one endpoint, or an operator, says that they were not included.
   */
  readonly isSuccessor?: true
  /**
   * The source account whose nonce counter is reset to the chain's, because an assigned nonce was not used.
   */
  readonly freed?: { readonly relayerId: string; readonly address: string }
}

/**
 * A block includes one of the attempts. From now on the record shows that attempt, even if there are newer
 * ones (I4).
 */
export function included(item: TransactionWithAttempts, inclusion: Inclusion): Resolution {
  const { transaction, attempts } = item
  const { attempt, receipt } = inclusion
  return {
    transaction: {
      ...transaction,
      status: nextStatus(transaction.status, 'included'),
      statusReason: inclusionReason(item, inclusion),
      currentAttempt: attempt.number,
      block: blockOf(receipt, transaction.block),
      cost: 0n,
      undecidedSince: undefined,
      stuckSince: undefined,
    },
    outcomes: attempts.flatMap((other) => {
      if (other.number !== attempt.number) return isClosed(other) ? [] : [outcome(item, other, 'superseded')]
      return [{ ...outcome(item, other, receipt.success ? 'mined' : 'reverted'), result: receipt.result }]
    }),
  }
}

/** A node that does not tell the time of the block takes back none that is known. */
function blockOf(
  { blockNumber: number, blockHash: hash, blockTime }: Inclusion['receipt'],
  known: Block | undefined,
): Block {
  const time = blockTime ?? (known?.hash === hash ? known.time : undefined)
  return time === undefined ? { number, hash } : { number, hash, time }
}

/** A closed attempt can never be included, even if the other attempts are reopened. */
export function isClosed({ outcome: known }: Attempt): boolean {
  return known === 'refused' || known === 'expired'
}

/** The block is final. The included attempt decides the final status, not the newest request. */
export function toFinal({ transaction, attempts }: TransactionWithAttempts, now: Date): Resolution {
  const attempt = attempts.find((other) => other.number === transaction.currentAttempt)
  const event = finalEvent(contentKind(attempts, transaction.currentAttempt), attempt?.outcome)
  return {
    transaction: { ...transaction, status: nextStatus(transaction.status, event), confirmedAt: now },
    outcomes: [],
  }
}

/** The terms on which a transaction loses its nonce. */
export interface NonceLoss {
  readonly now: Date
  /** True when the service can sign the wanted content: its own, or a successor that was never signed. */
  readonly reSignable: boolean
  /** The third party's nonce of the new content. */
  readonly nextNonce?: ExternalNonce | undefined
}

/**
 * A transaction from outside this service used the nonce, and its block is final, so none of the attempts can
 * be included. A request gets a new nonce, unless a third party signed it and only that party can choose the
 * nonce. A no-op ends, because its nonce is used.
 */
export function nonceUsedElsewhere(
  item: TransactionWithAttempts,
  { now, reSignable, nextNonce }: NonceLoss,
): Resolution {
  const { transaction, attempts } = item
  const intended = AFTER_NONCE_LOSS[transaction.purpose]
  const event = intended === 'returned' && !reSignable ? 'failed' : intended
  const fact = `Nonce ${transaction.nonce} was used by a transaction that did not come from this service`
  const shared = {
    ...withoutIncident(transaction),
    status: nextStatus(transaction.status, event),
    cost: 0n,
    nextRunAt: now,
  }
  return {
    transaction:
      event === 'returned'
        ? {
            ...shared,
            statusReason:
              transaction.purpose === 'successor'
                ? `${fact}; the new content takes its place.`
                : `${fact}; it gets a new one.`,
            stuckSince: undefined,
            sourceAccount: nextNonce?.address,
            nonce: nextNonce?.nonce,
            currentAttempt: undefined,
          }
        : { ...shared, statusReason: `${fact}; nothing of this one was executed.` },
    outcomes: openAttempts(attempts).map((attempt) => outcome(item, attempt, 'superseded')),
    ...(event === 'returned' && { isSuccessor: true as const }),
  }
}

/** The terms on which a transaction expires. */
export interface Expired extends NonceLoss {
  /** The caller no longer wants the content. */
  readonly over: boolean
  /** The nonce belongs to an account of the service, which can use it again. */
  readonly ownsNonce: boolean
  /** An endpoint does not answer now: it may come back, and accept the content. */
  readonly unanswered?: boolean
}

/**
 * Every attempt has expired, and the chain proved that it includes none of them. A request is signed again,
 * unless its `valid_until` has passed, only a third party can sign it again, or nodes refused several
 * versions in a row throughout; then it ends.
 */
export function expired(
  { transaction, attempts }: TransactionWithAttempts,
  { now, over, reSignable, ownsNonce, nextNonce, unanswered = false }: Expired,
): Resolution {
  const { purpose, sourceAccount } = transaction
  const intended = AFTER_NONCE_LOSS[purpose]
  const wanted = intended === 'returned' && (over || !reSignable) ? 'expired' : intended
  const refusal = wanted === 'returned' && purpose !== 'successor' ? refusedThroughout(attempts) : undefined
  const isRefused =
    refusal !== undefined && purpose === 'request' && refusedVersions(attempts) >= mostRefused(unanswered)
  const event = isRefused ? 'failed' : wanted
  const stuckSince = transaction.stuckSince ?? (refusal === undefined ? undefined : now)
  // A stuck transaction does not keep the freed nonce, so that the others can use it; a successor may bring
  // another one.
  const isReleased = event === 'returned' && (stuckSince !== undefined || purpose === 'successor')
  const shared = {
    ...withoutIncident(transaction),
    status: nextStatus(transaction.status, event),
    stuckSince,
    cost: 0n,
    nextRunAt: now,
  }
  return {
    transaction:
      event === 'returned'
        ? {
            ...shared,
            ...(isReleased && { sourceAccount: nextNonce?.address, nonce: nextNonce?.nonce }),
            cost: transaction.cost,
            statusReason:
              purpose === 'successor'
                ? 'The earlier version expired without being included; the new content replaced it.'
                : signedAgain(refusal),
            currentAttempt: undefined,
          }
        : {
            ...shared,
            sourceAccount: undefined,
            nonce: undefined,
            statusReason: isRefused ? refusedForGood(refusal) : EXPIRED[event],
          },
    outcomes: openAttempts(attempts).map((attempt) => outcome({ transaction, attempts }, attempt, 'expired')),
    // With the same nonce, the chain includes one of them at most.
    ...(event === 'returned' &&
      (isReleased || transaction.nonce === undefined) && { isSuccessor: true as const }),
    ...((event !== 'returned' || isReleased) && ownsNonce && sourceAccount !== undefined
      ? { freed: { relayerId: transaction.relayerId, address: sourceAccount } }
      : {}),
    ...(!isRefused && stuckSince !== transaction.stuckSince && { incident: 'transaction_stuck' as const }),
  }
}

/**
 * Nodes refused an attempt throughout its life if they did so at least this many times in a row, for a reason
 * that may pass, which takes 30 s; a node with a brief failure accepts it sooner.
 */
const REFUSED_THROUGHOUT = 6

/**
 * A request ends after this many versions in a row that nodes refused throughout, each until it expired:
 * three to six minutes. A node or gateway that restarts refuses everything for a minute or two.
 */
const MOST_REFUSED = 3

/** The same limit while an endpoint does not answer: it may come back, and accept the content. */
const MOST_REFUSED_AMONG_SILENT = 6

function mostRefused(unanswered: boolean): number {
  return unanswered ? MOST_REFUSED_AMONG_SILENT : MOST_REFUSED
}

/** Returns the text with which nodes refused all that expires now, if no node ever accepted any of it. */
function refusedThroughout(attempts: readonly Attempt[]): string | undefined {
  const ended = openAttempts(attempts)
  return ended.every(isRefusedThroughout) ? ended.at(-1)?.error : undefined
}

function isRefusedThroughout({ refusals = 0, broadcastAt }: Attempt): boolean {
  return broadcastAt === undefined && refusals >= REFUSED_THROUGHOUT
}

/**
 * Counts the newest attempts, up to the first that a node accepted, that others refused for other reasons, or
 * that has other content.
 */
function refusedVersions(attempts: readonly Attempt[]): number {
  const content = attempts.slice(
    Math.max(
      0,
      attempts.findLastIndex(({ kind }) => kind === 'replace'),
    ),
  )
  return content.length - 1 - content.findLastIndex((attempt) => !isRefusedThroughout(attempt))
}

function refusedForGood(refusal: string): string {
  return `The nodes refused every version of it until it expired (${refusal}), and the chain proved that none was included.`
}

function signedAgain(refusal: string | undefined): string {
  if (refusal === undefined) return 'It expired without being included; it is signed again.'
  return `The nodes refused it until it expired (${refusal}); it is signed again, and others overtake it.`
}

const EXPIRED: Readonly<Partial<Record<TransactionEvent, string>>> = {
  expired: 'It expired, and the chain proved that it was not included.',
  canceled: 'Canceled by the caller; the chain proved that it was not included.',
  failed: 'No node accepted it, and the chain proved that it was not included.',
}

/** The event of a transaction whose nonce was used although none of its attempts was included. */
const AFTER_NONCE_LOSS: Readonly<Record<Purpose, TransactionEvent>> = {
  request: 'returned',
  successor: 'returned',
  cancel: 'canceled',
  expire: 'expired',
  abandon: 'failed',
  gap_filler: 'canceled',
  setup: 'returned',
}

/** Clears the incident, because the chain has decided. */
function withoutIncident(transaction: Transaction): Transaction {
  return { ...transaction, undecidedSince: undefined }
}

/** Returns the final event of a transaction when an attempt of this kind was included with this result. */
export function finalEvent(
  kind: Attempt['kind'] | undefined,
  result: Attempt['outcome'] | undefined,
): TransactionEvent {
  if (result === 'reverted') return 'failed'
  return (kind && FINAL_EVENTS[kind]) ?? 'confirmed'
}

/** No-ops end a transaction with another status than `confirmed`. */
const FINAL_EVENTS: Readonly<Partial<Record<Attempt['kind'], TransactionEvent>>> = {
  cancel: 'canceled',
  expire: 'expired',
  abandon: 'failed',
}

/** Returns the change of one attempt of a transaction. */
export function outcome(
  { transaction }: TransactionWithAttempts,
  attempt: Attempt,
  value: Attempt['outcome'],
): OutcomeChange {
  return { transactionId: transaction.id, number: attempt.number, outcome: value }
}
