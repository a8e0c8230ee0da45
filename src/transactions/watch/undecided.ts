import type { Attempt } from '../../chains/attempt.ts'
import { contentKind } from '../model/attempts.ts'
import {
  ENDED_UNSIGNED,
  type Purpose,
  type Transaction,
  type TransactionWithAttempts,
} from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import type { OutcomeChange } from '../store/attempts-store.ts'
import type { OperatorDecision } from '../store/decisions-store.ts'
import { finalEvent, isClosed, type Resolution } from './resolution.ts'

/**
 * No endpoint can prove any more whether an attempt was included. The transaction stays open with this
 * reason, because either guess could lose money or pay twice (I6). It blocks nothing: its bytes can no longer
 * be included. Undefined if the record already says the same. Pure.
 */
export function undecided(
  { transaction }: TransactionWithAttempts,
  { detail, now }: { readonly detail: string; readonly now: Date },
): Resolution | undefined {
  const { id, purpose } = transaction
  const statusReason = withWish({
    id,
    purpose,
    statusReason: `${detail} It stays open until an endpoint proves what happened, or an operator decides: ${commandOf(id)}`,
  })
  if (transaction.undecidedSince !== undefined && transaction.statusReason === statusReason) return undefined
  return {
    transaction: {
      ...transaction,
      statusReason,
      undecidedSince: transaction.undecidedSince ?? now,
      stuckSince: undefined,
    },
    outcomes: [],
    ...(transaction.undecidedSince === undefined && { incident: 'transaction_undecided' as const }),
  }
}

/**
 * Returns the reason of an undecided transaction with its caller's current request instead of an earlier one:
 * the decision stays the same. Pure.
 */
export function withWish({
  id,
  purpose,
  statusReason = '',
}: Pick<Transaction, 'id' | 'purpose' | 'statusReason'>): string {
  const command = commandOf(id)
  const end = statusReason.indexOf(command)
  const doubt = end === -1 ? statusReason : statusReason.slice(0, end + command.length)
  return `${doubt}${WISHES[purpose] ?? ''}`
}

const WISHES: Readonly<Partial<Record<Purpose, string>>> = {
  cancel: '. The caller canceled it, so it is not signed again.',
  successor: '. If it was not included, its replacement is sent.',
}

function commandOf(id: string): string {
  return `relayer tx decide ${id}`
}

/**
 * The chain no longer uses the nonce of an undecided transaction, because a reorganisation was deeper than
 * what counts as final. Its attempts can be included again, so they are broadcast again; content that no
 * attempt has is signed with the same nonce. Pure.
 */
export function reopened({ transaction }: TransactionWithAttempts, now: Date): Resolution {
  const isUnsigned = transaction.purpose === 'successor'
  return {
    transaction: {
      ...transaction,
      ...(isUnsigned && { status: nextStatus(transaction.status, 'returned'), currentAttempt: undefined }),
      statusReason: `Nonce ${transaction.nonce} is no longer used: the block that used it is no longer in the chain.`,
      undecidedSince: undefined,
      nextRunAt: now,
    },
    outcomes: [],
  }
}

/**
 * An operator decided that the transaction was included: an attempt, or something that was signed when
 * another database was in use. The transaction gets the final status of the attempt. Pure.
 */
export function decidedIncluded(
  { transaction, attempts }: TransactionWithAttempts,
  { decision, now }: { readonly decision: OperatorDecision; readonly now: Date },
): Resolution {
  const { attempt, hash } = decision
  const mined = nextStatus(transaction.status, 'included')
  const what = attempt === undefined ? 'It' : `Attempt ${attempt}`
  return {
    transaction: {
      ...transaction,
      status: nextStatus(
        mined,
        attempt === undefined ? 'confirmed' : finalEvent(contentKind(attempts, attempt), 'mined'),
      ),
      statusReason: `${what} was included: ${sourceOf(decision)}`,
      currentAttempt: attempt,
      statedHash: hash,
      ...ended(now),
    },
    outcomes: outcomesOf(transaction.id, attempts, attempt),
  }
}

/**
 * An operator decided that a transaction was included that this database has not signed: another database was
 * in use at the time. Its nonce, if it has one, is free again. Pure.
 */
export function decidedPending(
  { transaction, attempts }: TransactionWithAttempts,
  { decision, now }: { readonly decision: OperatorDecision; readonly now: Date },
): Resolution {
  const { id, relayerId, sourceAccount: address } = transaction
  return {
    transaction: {
      ...transaction,
      ...ENDED_UNSIGNED,
      status: nextStatus(nextStatus(transaction.status, 'included'), 'confirmed'),
      statusReason: `It was included: ${sourceOf(decision)}`,
      currentAttempt: undefined,
      statedHash: decision.hash,
      ...ended(now),
    },
    outcomes: outcomesOf(id, attempts, undefined),
    ...(address !== undefined && { freed: { relayerId, address } }),
  }
}

function ended(now: Date): Partial<Transaction> {
  return { confirmedAt: now, cost: 0n, undecidedSince: undefined, stuckSince: undefined }
}

/** The outcomes of attempts of which this one was included, or none. */
function outcomesOf(
  transactionId: string,
  attempts: readonly Attempt[],
  included: number | undefined,
): OutcomeChange[] {
  return attempts.flatMap((attempt): OutcomeChange[] => {
    const about = { transactionId, number: attempt.number }
    if (attempt.number === included) return [{ ...about, outcome: 'mined' }]
    return isClosed(attempt) ? [] : [{ ...about, outcome: 'superseded' }]
  })
}

/**
 * An operator decided that nothing was included. Adds the decision to the resolution that a proof of absence
 * would give. Pure.
 */
export function decidedAbsent(resolution: Resolution, decision: OperatorDecision): Resolution {
  const { transaction } = resolution
  const reason = transaction.statusReason === undefined ? '' : `${transaction.statusReason} `
  return {
    ...resolution,
    transaction: {
      ...transaction,
      undecidedSince: undefined,
      statusReason: `${reason}It was not included: ${sourceOf(decision)}`,
    },
  }
}

function sourceOf({ decidedBy, reason }: OperatorDecision): string {
  return `operator ${decidedBy} decided this (${reason}); no endpoint can prove it.`
}
