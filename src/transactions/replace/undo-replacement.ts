import type { BroadcastResult } from '../../chains/answer.ts'
import { AppError } from '../../errors.ts'
import { hashesOfAll } from '../model/attempt-hashes.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { saveOutcomes } from '../store/attempts-store.ts'
import { findTransaction, saveTransactions } from '../store/transactions-store.ts'
import type { Change } from './replacement.ts'

/** A change whose bytes were offered to the network. */
export interface BroadcastChange {
  readonly change: Change
  readonly before: TransactionWithAttempts
  /** Of the attempt that was signed for it. */
  readonly number: number
  readonly hash: string
  readonly result: BroadcastResult
}

/**
 * A change that no node takes, or that came too late, did not happen: the record gets its content back, and the caller
 * is told.
 * @throws AppError 400 `replacement_underpriced` or `transaction_not_replaceable`
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
      `The node refused the replacement: ${result.detail}. The earlier attempt still counts.`,
    )
  }
  if (result.kind !== 'nonce_used' || !(await earlierIsIncluded(context, broadcasted))) return
  if (!(await undoReplacement(context, broadcasted, result.detail))) return
  throw new AppError(
    'transaction_not_replaceable',
    'An earlier attempt was included in a block meanwhile; the replacement came too late.',
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

/** Answers after which an earlier attempt counts again: none where an endpoint did not answer, and may have taken the new one. */
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
  // An earlier one with the same content is found also when it was applied in the bytes of the change.
  return receipts.some((one) => one.kind === 'included' && one.receipt.result?.appliedHash !== hash)
}

/** How often it is tried again because a worker changed the record between reading and writing. */
const MAX_TRIES = 20

/**
 * Closes the attempt for good, because a block that is undone later must not bring it back: its bytes would be offered
 * again. False when the chain includes it after all, or a worker has gone on from it with a higher fee, included by now or not,
 * which is why the node would not take these bytes any more; then the change did happen.
 */
async function undoReplacement(
  { db }: TransactionsContext,
  { change: { relayer, id }, before, number }: BroadcastChange,
  detail: string,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const item = await findTransaction(db, relayer.id, id)
    if (item === undefined) break
    const { transaction } = item
    if (transaction.block !== undefined && transaction.currentAttempt === number) return false
    if (item.attempts.some((attempt) => attempt.number > number && attempt.outcome !== 'refused'))
      return false
    const taken = await db.transaction().execute(async (tx) => {
      const saved = await saveTransactions(tx, [withPreviousContent(transaction, before.transaction, number)])
      if (saved.length === 0) return false
      await saveOutcomes(tx, [{ transactionId: id, number, outcome: 'refused', error: detail }])
      return true
    })
    if (taken) return true
  }
  throw new Error(`transaction ${id} changed ${MAX_TRIES} times while a change of it was being taken back`)
}

/** What the chain or a worker decided meanwhile stays; what the change brought goes. Pure. */
function withPreviousContent(now: Transaction, before: Transaction, number: number): Transaction {
  const { request, purpose } = before
  // A node took an earlier attempt before, and that is where it is again.
  const taken = now.status === 'sent' && before.status === 'submitted'
  const status = taken ? nextStatus(now.status, 'broadcast') : now.status
  const content = { ...now, status, request, purpose, cost: now.block === undefined ? before.cost : now.cost }
  if (now.currentAttempt !== number) return content
  return { ...content, currentAttempt: before.currentAttempt, statusReason: before.statusReason }
}
