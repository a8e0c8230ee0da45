import type { Attempt, Draft, Receipt } from '../chains/chain.ts'
import { openAttempts, reservation } from './open-attempts.ts'
import type { OutcomeChange } from './store.ts'
import type { Intent, Transaction, TransactionWithAttempts } from './transaction.ts'
import { nextStatus, type TransactionEvent } from './transitions.ts'

/** What the chain has made of a transaction, ready to be written. All functions here are pure. */
export interface Verdict {
  readonly transaction: Transaction
  readonly outcomes: readonly OutcomeChange[]
}

/** An attempt that a block holds. `reason` is there when it was reverted. */
export interface Inclusion {
  readonly attempt: Attempt
  readonly receipt: Receipt
  readonly reason: string | undefined
}

/** A block holds one of the attempts: the record shows that one from now on, whatever came after it. */
export function included(item: TransactionWithAttempts, { attempt, receipt, reason }: Inclusion): Verdict {
  const { transaction, attempts } = item
  return {
    transaction: {
      ...transaction,
      status: nextStatus(transaction.status, 'included'),
      statusReason: inclusionReason(item, attempt, reason),
      currentAttempt: attempt.number,
      block: { number: receipt.blockNumber, hash: receipt.blockHash },
      cost: 0n,
    },
    outcomes: attempts.flatMap((other) => {
      if (other.number === attempt.number)
        return [outcome(item, other, receipt.success ? 'mined' : 'reverted')]
      return other.outcome === 'refused' ? [] : [outcome(item, other, 'superseded')]
    }),
  }
}

/** The block of the included attempt is gone: its bytes go out again, and every attempt is open again (I7). */
export function reorged(
  item: TransactionWithAttempts,
  { now, costOf }: { now: Date; costOf: (draft: Draft) => bigint },
): Verdict {
  const { transaction, attempts } = item
  const reopened = attempts.filter(
    (attempt) => attempt.outcome !== 'refused' && attempt.nonce === transaction.nonce,
  )
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
export function finalised({ transaction, attempts }: TransactionWithAttempts, now: Date): Verdict {
  const attempt = attempts.find((other) => other.number === transaction.currentAttempt)
  const event = finalEvent(contentKind(attempts, transaction.currentAttempt), attempt?.outcome)
  return {
    transaction: { ...transaction, status: nextStatus(transaction.status, event), confirmedAt: now },
    outcomes: [],
  }
}

/**
 * The nonce was used by something that did not come from here, deep enough: none of the attempts can be included any
 * more. A request gets a fresh nonce, behind everything that has one; a no-op has nothing left to do.
 */
export function lost(item: TransactionWithAttempts, now: Date): Verdict {
  const { transaction, attempts } = item
  const event = LOST[transaction.intent]
  const fact = `Nonce ${transaction.nonce} was used by a transaction that did not come from this service`
  const shared = { ...transaction, status: nextStatus(transaction.status, event), cost: 0n, nextRunAt: now }
  return {
    transaction:
      event === 'returned'
        ? {
            ...shared,
            statusReason: `${fact}; it gets a new one.`,
            nonce: undefined,
            currentAttempt: undefined,
          }
        : { ...shared, statusReason: `${fact}; nothing of this one was executed.` },
    outcomes: openAttempts(attempts).map((attempt) => outcome(item, attempt, 'superseded')),
  }
}

/** How it ends, or goes on, when the nonce is gone without any of the attempts. */
const LOST: Readonly<Record<Intent, TransactionEvent>> = {
  request: 'returned',
  cancel: 'canceled',
  expire: 'expired',
  abandon: 'failed',
  filler: 'canceled',
}

function finalEvent(
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

/** A raised fee keeps the content, so the kind is that of the attempt that was raised. */
function contentKind(attempts: readonly Attempt[], number: number | undefined): Attempt['kind'] | undefined {
  return attempts.findLast((attempt) => attempt.number <= (number ?? 0) && attempt.kind !== 'speed_up')?.kind
}

const WANTED: Readonly<Record<Intent, string>> = {
  request: 'its replacement',
  cancel: 'its cancellation',
  expire: 'the no-op that valid_until asked for',
  abandon: 'the no-op',
  filler: 'the filler',
}

function inclusionReason(
  { transaction, attempts }: TransactionWithAttempts,
  attempt: Attempt,
  reason: string | undefined,
): string | undefined {
  const reverted = reason === undefined ? undefined : `Reverted on chain: ${reason}.`
  const wanted = attempts.findLast((other) => other.kind !== 'speed_up' && other.outcome !== 'refused')
  const overtaken = wanted !== undefined && attempt.number < wanted.number
  if (!overtaken) return reverted ?? (transaction.intent === 'request' ? undefined : transaction.statusReason)
  const lost = `Attempt ${attempt.number} was included before ${WANTED[transaction.intent]} (attempt ${wanted.number}), which has lost.`
  return reverted === undefined ? lost : `${lost} ${reverted}`
}

function outcome(
  { transaction }: TransactionWithAttempts,
  attempt: Attempt,
  value: Attempt['outcome'],
): OutcomeChange {
  return { transactionId: transaction.id, number: attempt.number, outcome: value }
}
