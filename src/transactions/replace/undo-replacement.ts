import { appendEntries } from '../../audit/append-store.ts'
import { auditLogOf } from '../../audit/entry.ts'
import type { BroadcastResult } from '../../chains/answer.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hashesOfAll, isNoop } from '../model/attempts.ts'
import { auditedAction } from '../model/audited-transaction.ts'
import { retryOnConflict } from '../model/retry-on-conflict.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { fallBackReason } from '../model/status-reasons.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { saveOutcomes } from '../store/attempts-store.ts'
import { requireTransaction } from '../store/lookups-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'
import { type Change, nonceClaimProblem } from './replacement.ts'

/** A change whose bytes were broadcast. */
export interface BroadcastChange {
  readonly change: Change
  readonly before: TransactionWithAttempts
  /** The number of the attempt that was signed for the change. */
  readonly number: number
  readonly hash: string
  readonly result: BroadcastResult
}

/**
 * Undoes a change that the nodes refuse or that came too late: the record gets its previous content back, and
 * the caller gets an error.
 * @throws AppError `replacement_underpriced` or `transaction_not_replaceable`
 */
export async function undoIfRefused(
  context: TransactionsContext,
  broadcasted: BroadcastChange,
): Promise<void> {
  const { result } = broadcasted
  if (isRefusal(result)) {
    if (!(await undoReplacement(context, broadcasted, result.detail))) return
    throw new AppError(
      'replacement_underpriced',
      `The node refused the replacement: ${result.detail}. The earlier version counts again. If a node accepted the refused bytes after all, a block can still include them, and the record then says so.`,
    )
  }
  if (result.kind !== 'nonce_used' || !(await earlierIsIncluded(context, broadcasted))) return
  if (!(await undoReplacement(context, broadcasted, result.detail))) return
  throw new AppError(
    'transaction_not_replaceable',
    'An earlier attempt has since been included in a block; the replacement came too late.',
  )
}

type NodeRefusal = Extract<
  BroadcastResult,
  { readonly kind: 'underpriced' | 'too_cheap' | 'too_dear' | 'gas_limit' | 'refused' }
>

const REFUSALS: readonly BroadcastResult['kind'][] = [
  'underpriced',
  'too_cheap',
  'too_dear',
  'gas_limit',
  'refused',
] satisfies NodeRefusal['kind'][]

/**
 * Refusals that undo the change. If one endpoint did not answer, it may have accepted the new bytes, so the
 * change stays (I6).
 */
function isRefusal(result: BroadcastResult): result is NodeRefusal {
  return REFUSALS.includes(result.kind) && !('unanswered' in result)
}

async function earlierIsIncluded(
  context: TransactionsContext,
  { change, before, hash }: BroadcastChange,
): Promise<boolean> {
  const { chain } = context.runtimeOf(change.relayer)
  const earlier = before.attempts.filter(({ signed }) => signed.hash !== hash)
  const receipts = await chain.receipts(hashesOfAll(chain, earlier))
  // A receipt of an earlier attempt with the same content can also be the inclusion of the new bytes.
  return receipts.some((one) => one.kind === 'included' && one.receipt.result?.appliedHash !== hash)
}

/**
 * Restores the previous content and marks the attempt as refused for ever: a later reorganisation must not
 * reopen it, because its bytes would be broadcast again. Returns false when the change did happen after all:
 * the chain includes the attempt, or a worker has already signed a higher fee on top of it, which is why the
 * node refused these bytes.
 */
async function undoReplacement(
  context: TransactionsContext,
  { change: { relayer, id, actor }, before, number }: BroadcastChange,
  detail: string,
): Promise<boolean> {
  const { db } = context
  return retryOnConflict({ id, doing: 'restored after a change' }, async () => {
    const item = await requireTransaction(db, relayer, id)
    const { transaction } = item
    if (transaction.block !== undefined && transaction.currentAttempt === number) return false
    if (item.attempts.some((attempt) => attempt.number > number && attempt.outcome !== 'refused'))
      return false
    return transact(db, async (tx) => {
      const previous = withPreviousContent(transaction, before.transaction, { number, detail })
      const restored = await withoutLostNonce(context, tx, { relayer, previous })
      const [saved] = await saveTransactions(tx, [restored])
      if (saved === undefined) return undefined
      await saveOutcomes(tx, [{ transactionId: id, number, outcome: 'refused', error: detail }])
      const undo = { actor, action: 'undoReplacement' } as const
      const entry = auditedAction(id, undo, { before: transaction, after: saved })
      await appendEntries(tx, auditLogOf(relayer.id), [entry])
      return true
    })
  })
}

/**
 * A waiting request with a nonce of a third party did not hold that nonce while the change was tried. If
 * another transaction has since got it, nothing follows the earlier version, because both transactions would
 * have the same nonce.
 */
async function withoutLostNonce(
  context: TransactionsContext,
  tx: Tx,
  { relayer, previous }: { readonly relayer: Relayer; readonly previous: Transaction },
): Promise<Transaction> {
  const { id, relayerId, purpose, request } = previous
  if (purpose !== 'successor') return previous
  const nonce = context.runtimeOf(relayer).chain.externalSigning?.nonceOf(request)
  const problem = nonce && (await nonceClaimProblem(context, tx, { relayerId, id, nonce }))
  if (problem === undefined) return previous
  return {
    ...previous,
    purpose: 'cancel',
    statusReason:
      'The queued replacement was dropped: another transaction already uses its signed transaction.',
  }
}

/**
 * Removes the change from the record, and keeps what the chain or a worker has since decided. The record says
 * that the change was refused, because another caller may have been told that it is under way. Pure.
 */
function withPreviousContent(
  now: Transaction,
  before: Transaction,
  { number, detail }: { readonly number: number; readonly detail: string },
): Transaction {
  const { request, purpose } = before
  // A node accepted an earlier attempt, so the transaction is submitted again.
  const wasSubmitted = now.status === 'sent' && before.status === 'submitted'
  const status = wasSubmitted ? nextStatus(now.status, 'broadcast') : now.status
  const content = { ...now, status, request, purpose, cost: now.block === undefined ? before.cost : now.cost }
  if (now.currentAttempt !== number) return content
  const { currentAttempt } = before
  const keepsReason = isNoop(purpose) || currentAttempt === undefined
  const statusReason = keepsReason ? before.statusReason : fallBackReason(number, detail, currentAttempt)
  return { ...content, currentAttempt, statusReason }
}
