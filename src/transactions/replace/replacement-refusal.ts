import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import { refuseWaiting } from '../../spending/approvals.ts'
import type { RuleResult } from '../../spending/rule.ts'
import { externalNonceProblem } from '../accept/checks.ts'
import { checkRequest } from '../accept/evaluate.ts'
import { evaluateContent, findReasonsToWait } from '../budgets/spenders.ts'
import { attemptsAtNonce, unprovenAttempts } from '../model/attempts.ts'
import { isExternallySigned, type TransactionsContext } from '../model/runtime.ts'
import type { Purpose, Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { isReplaceable } from '../model/transitions.ts'
import type { Change, Replacing } from './replacement.ts'

/** Returns the reason to refuse a change before any node or spending rule is involved. */
export function replacementRefusal(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): AppError | undefined {
  const { relayer, request } = change
  return (
    notReplaceable(item.transaction, request) ??
    (request && checkRequest(context, relayer, request)) ??
    (request && startRefusal(request, item)) ??
    refuseExternallySigned(context, change, item) ??
    (request ? undefined : cancelRefusal(change, item))
  )
}

/**
 * Others wait for a nonce that is assigned, and signed bytes cannot be revoked, so the new content cannot
 * wait for a later time.
 */
function startRefusal(
  { validFrom, when }: ChainRequest,
  { transaction, attempts }: TransactionWithAttempts,
): AppError | undefined {
  const field = validFrom === undefined ? when && 'when' : 'valid_from'
  if (field === undefined || (transaction.nonce === undefined && attempts.length === 0)) return undefined
  return new AppError(
    'invalid_request',
    `${field}: not expected here, because the transaction already has a nonce or signed bytes and can no longer wait; omit it.`,
  )
}

/**
 * A transaction without a nonce and without signed bytes ends without any signature, and so does one that
 * waits for a decision of an operator, so a paused or disabled relayer can cancel them.
 */
function cancelRefusal(
  { relayer, unsignedOnly = false }: Change,
  { transaction, attempts }: TransactionWithAttempts,
): AppError | undefined {
  const { nonce, undecidedSince } = transaction
  const isUnsigned = nonce === undefined && attempts.length === 0
  if (unsignedOnly && !isUnsigned)
    return new AppError(
      'transaction_not_replaceable',
      'The transaction has a nonce or signed bytes; with unsigned_only, it is not canceled.',
    )
  return undecidedSince === undefined && !isUnsigned ? inactive(relayer) : undefined
}

function notReplaceable(
  { status, awaitsApproval, awaitsTransaction }: Transaction,
  request: ChainRequest | undefined,
): AppError | undefined {
  if (awaitsApproval && request !== undefined)
    return new AppError(
      'transaction_not_replaceable',
      'The transaction is waiting for approval of exactly this content. Cancel it and send the new content as a new transaction.',
    )
  if (awaitsTransaction !== undefined && request !== undefined)
    return new AppError(
      'transaction_not_replaceable',
      `The transaction waits for transaction ${awaitsTransaction}. Cancel it and send the new content as a new transaction.`,
    )
  if (isReplaceable(status)) return undefined
  return new AppError(
    'transaction_not_replaceable',
    `The transaction is ${status}; only pending, sent and submitted ones can be replaced or canceled.`,
  )
}

/**
 * In these cases the earlier version is no longer broadcast, and the transaction ends when it has expired.
 */
const AWAITING_EXPIRY: readonly Purpose[] = ['successor', 'cancel']

/**
 * Refuses what the nonce of a third party makes impossible: this service signs no no-op for it, and it
 * assigns the nonces of its own accounts itself. The chain decides about every other change. Returns
 * undefined if the change is allowed.
 */
export function refuseExternallySigned(
  context: TransactionsContext,
  { relayer, request }: Change,
  item: TransactionWithAttempts,
): AppError | undefined {
  const runtime = context.runtimeOf(relayer)
  if (request !== undefined) {
    const externalNonce = runtime.chain.externalSigning?.nonceOf(request)
    return externalNonce && externalNonceProblem(runtime, externalNonce)
  }
  const { transaction } = item
  if (!isExternallySigned(runtime, transaction) || AWAITING_EXPIRY.includes(transaction.purpose))
    return undefined
  if (unprovenAttempts(attemptsAtNonce(item)).length === 0) return undefined
  return new AppError(
    'not_supported',
    `Its sequence number belongs to ${transaction.sourceAccount}, who has signed it; only that account can cancel it.`,
  )
}

/** The sentence after a reason for which a replacement would have to wait. */
export const REPLACEMENT_CANNOT_WAIT =
  'A replacement cannot wait: cancel the transaction, and send the new content.'

/**
 * Evaluates the rules for new content of a transaction. An approval would come too late for it, because the
 * earlier content may be included.
 */
export async function evaluateReplacement(
  context: TransactionsContext,
  { relayer, request, actor }: Omit<Replacing, 'id'>,
): Promise<RuleResult[]> {
  const { chain } = context.runtimeOf(relayer)
  const effects = () => chain.effects(request, relayer.address)
  const waiting = await findReasonsToWait(context.db, relayer, { actor, effects })
  return [
    ...evaluateContent(context, relayer, { actor, effects }),
    ...refuseWaiting(waiting, REPLACEMENT_CANNOT_WAIT),
  ]
}
