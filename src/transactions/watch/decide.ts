import type { Author } from '../../audit/entry.ts'
import type { Db, Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { saveOutcomes } from '../store/attempts-store.ts'
import {
  type Decidable,
  insertDecision,
  lockForDecision,
  NOT_FINAL,
  type OperatorDecision,
  relayerIdOf,
} from '../store/decisions-store.ts'
import { findTransaction } from '../store/lookups-store.ts'
import { lockAccount, setNextNonce } from '../store/nonce-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'
import { decidedPending } from './undecided.ts'

/** The words of an operator about a transaction. */
export interface StatedDecision {
  readonly transactionId: string
  readonly included: boolean
  /** Number of the included attempt. Default: the one with the hash, or the newest if there is no hash. */
  readonly attempt?: number | undefined
  /** The hash of what was included. */
  readonly hash?: string | undefined
  readonly reason: string
  readonly decidedBy: string
}

/**
 * The result of a decision. `stored`: the next watch round applies it, unless the chain shows something else
 * by then · `applied`: the record has it · `still_signing`: the transaction is pending, and its relayer could
 * sign it at any moment · `unknown_attempt`: it has no attempt with that number.
 */
export type DecisionOutcome =
  | 'stored'
  | 'applied'
  | 'no_such_transaction'
  | 'not_undecided'
  | 'still_signing'
  | 'unknown_attempt'

/**
 * Decides what happened to a transaction: to one that is undecided, and to a pending one of a relayer that
 * signs nothing, which is what a restored database has of a transaction that was signed after the backup.
 */
export function decideTransaction(
  db: Db,
  stated: StatedDecision,
  { author, now }: { readonly author: Author; readonly now: Date },
): Promise<DecisionOutcome> {
  return transact(db, async (tx) => {
    const relayerId = await relayerIdOf(tx, stated.transactionId)
    // Nonce counters come before transactions (database/locks/lock-order.md).
    if (relayerId !== undefined) await lockAccount(tx, relayerId)
    const about = await lockForDecision(tx, stated.transactionId)
    const item = about && (await findTransaction(tx, about.relayerId, stated.transactionId))
    if (about === undefined || item === undefined) return 'no_such_transaction'
    const decision = toDecision(stated, item)
    const outcome = outcomeOf(decision, { about, item })
    if (outcome === 'applied') await applyToPending(tx, { item, decision, now })
    if (outcome === 'applied' || outcome === 'stored') await insertDecision(tx, decision, { about, author })
    return outcome
  })
}

/** Completes a decision with the attempt that it is about. Pure. */
function toDecision(
  { attempt, hash, ...stated }: StatedDecision,
  { transaction, attempts }: TransactionWithAttempts,
): OperatorDecision {
  const known = attempts.find(({ signed }) => signed.hash === hash)
  if (!stated.included) return { ...stated, attempt: undefined, hash: undefined }
  if (attempt !== undefined) return { ...stated, attempt, hash: undefined }
  if (known !== undefined) return { ...stated, attempt: known.number, hash: undefined }
  const newest = hash === undefined ? transaction.currentAttempt : undefined
  return { ...stated, attempt: newest, hash }
}

/** Pure. */
function outcomeOf(
  { included, attempt }: OperatorDecision,
  { about, item }: { readonly about: Decidable; readonly item: TransactionWithAttempts },
): DecisionOutcome {
  if (attempt !== undefined && item.attempts.every(({ number }) => number !== attempt))
    return 'unknown_attempt'
  if (about.status !== 'pending')
    return about.undecidedSince !== null && NOT_FINAL.includes(about.status) ? 'stored' : 'not_undecided'
  if (about.signs) return 'still_signing'
  return included ? 'applied' : 'stored'
}

async function applyToPending(
  tx: Tx,
  {
    item,
    decision,
    now,
  }: { readonly item: TransactionWithAttempts; readonly decision: OperatorDecision; readonly now: Date },
): Promise<void> {
  const { transaction, outcomes, freed } = decidedPending(item, { decision, now })
  // The row is locked since before it was read, so its version is current.
  await saveTransactions(tx, [transaction], { keepsRequest: true })
  await saveOutcomes(tx, outcomes)
  if (freed !== undefined) await setNextNonce(tx, { ...freed, nonce: null })
}
