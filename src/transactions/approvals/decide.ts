import { type Actor, callerName } from '../../access/principal.ts'
import { appendEntries } from '../../audit/append-store.ts'
import { auditLogOf } from '../../audit/entry.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import { shortOfFunds } from '../../relayers/policies/policy.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { NEW_RECEIVERS } from '../../spending/approval-rule.ts'
import { insertKnownReceivers } from '../../spending/known-receivers-store.ts'
import { afterReason } from '../model/after.ts'
import { auditedDecision } from '../model/audited-transaction.ts'
import { isScheduled } from '../model/due.ts'
import { reportFinished } from '../model/observer.ts'
import { retryOnConflict } from '../model/retry-on-conflict.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { ENDED_UNSIGNED, type Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { reservedBy } from '../store/due-store.ts'
import { requireTransaction } from '../store/lookups-store.ts'
import { lockAccount } from '../store/nonce-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'
import { type Approval, findApproval, saveDecision } from './approvals-store.ts'

/** A decision of an API key about a transaction that waits for an approval. */
export interface Deciding {
  readonly relayer: Relayer
  readonly id: string
  readonly actor: Actor
  readonly decision: 'approved' | 'refused'
  /** A comment for the sender and the record. */
  readonly reason: string | undefined
}

/**
 * Decides about a transaction that waits for an approval. The first decision counts; repeating it changes
 * nothing.
 * @throws AppError `transaction_not_found`, `approval_not_found`, `own_approval`, `approval_decided`,
 * `insufficient_balance`
 */
export async function decideApproval(context: TransactionsContext, deciding: Deciding): Promise<Approval> {
  return retryOnConflict({ id: deciding.id, doing: 'decided about' }, async () => {
    const { transaction } = await requireTransaction(context.db, deciding.relayer, deciding.id)
    const approval = await requireApproval(context, deciding.id)
    if (approval.requestedBy === deciding.actor.keyId) throw ownApproval(deciding)
    if (isRepeated(approval, deciding)) return approval
    const refusal = overError(approval, transaction, context.clock.now())
    if (refusal) throw refusal
    const isDecided = await decide(context, deciding, { approval, transaction })
    return isDecided ? requireApproval(context, deciding.id) : undefined
  })
}

/** @throws AppError 404 `approval_not_found` if no rule required an approval of the transaction */
export async function requireApproval(
  { db }: Pick<TransactionsContext, 'db'>,
  transactionId: string,
): Promise<Approval> {
  const approval = await findApproval(db, transactionId)
  if (approval === undefined)
    throw new AppError(
      'approval_not_found',
      `No rule required an approval of transaction ${transactionId}, so there is nothing to decide.`,
    )
  return approval
}

function isRepeated({ state, decidedBy }: Approval, { decision, actor }: Deciding): boolean {
  return state === decision && decidedBy === actor.keyId
}

function ownApproval({ actor: { keyId } }: Deciding): AppError {
  return new AppError(
    'own_approval',
    `${callerName(keyId)} sent this transaction; another key or person must decide. The sender can cancel it.`,
  )
}

function overError(
  { state, ...approval }: Approval,
  { status }: Transaction,
  now: number,
): AppError | undefined {
  const { transactionId: id, decidedBy, expiresAt } = approval
  switch (state) {
    case 'waiting':
      return expiresAt.getTime() > now ? undefined : expiredError(id, expiresAt)
    case 'expired':
      return expiredError(id, expiresAt)
    case 'approved':
    case 'refused':
      return new AppError(
        'approval_decided',
        `Transaction ${id} was ${state} by ${callerName(decidedBy ?? '')} and is ${status}.`,
      )
    case 'withdrawn':
      return new AppError('approval_decided', `Transaction ${id} ended as ${status} before a decision.`)
  }
}

function expiredError(id: string, expiresAt: Date): AppError {
  return new AppError(
    'approval_decided',
    `Transaction ${id} waited until ${expiresAt.toISOString()} without a decision; send it again.`,
  )
}

interface Found {
  readonly approval: Approval
  readonly transaction: Transaction
}

/** Returns false if another writer changed the transaction in the meantime. */
async function decide(context: TransactionsContext, deciding: Deciding, found: Found): Promise<boolean> {
  const { actor, decision, reason, id } = deciding
  const { db, clock } = context
  const reserves = decision === 'approved' && !isScheduled(found.transaction, clock.now())
  const balance = reserves ? await balanceOf(context, deciding.relayer) : undefined
  const decidedAt = new Date(clock.now())
  const written = await transact(db, async (tx) => {
    if (balance !== undefined) await requireFunds(context, tx, { ...deciding, ...found, balance })
    const [saved] = await saveTransactions(tx, [decided(deciding, found.transaction, decidedAt)])
    if (saved === undefined) return undefined
    if (decision === 'approved') await learnReceivers(context, tx, deciding.relayer, found)
    await saveDecision(tx, id, { decision, decidedAt, decidedBy: actor.keyId, decisionReason: reason })
    const entry = auditedDecision(found.transaction, {
      author: actor,
      action: 'decideApproval',
      decision,
      reason,
    })
    await appendEntries(tx, auditLogOf(saved.relayerId), [entry])
    return saved
  })
  if (written) reportFinished(context, [written])
  return written !== undefined
}

/** An approved transaction is simulated again before it is signed: the estimate is as old as the request. */
function decided({ decision, actor, reason }: Deciding, transaction: Transaction, now: Date): Transaction {
  const { status } = transaction
  if (decision === 'approved')
    return {
      ...transaction,
      awaitsApproval: undefined,
      status: nextStatus(status, 'approved'),
      statusReason:
        transaction.after && transaction.awaitsTransaction !== undefined
          ? afterReason(transaction.after)
          : undefined,
      estimatedGas: undefined,
      nextRunAt: now,
    }
  return {
    ...transaction,
    ...ENDED_UNSIGNED,
    status: nextStatus(status, 'canceled'),
    statusReason: `${callerName(actor.keyId)} refused to approve it${reason === undefined ? '.' : `: ${reason}`}`,
  }
}

/** Without a reply of the nodes nothing is refused: they decide at the broadcast (I6). */
async function balanceOf(context: TransactionsContext, relayer: Relayer): Promise<bigint | undefined> {
  const answer = await context.runtimeOf(relayer).chain.balance(relayer.address)
  return answer.kind === 'ok' ? answer.value : undefined
}

/**
 * Checks whether the account can pay now, because nothing was reserved while the transaction waited. The lock
 * keeps the sum valid until the commit.
 * @throws AppError `insufficient_balance`
 */
async function requireFunds(
  context: TransactionsContext,
  tx: Tx,
  { relayer, transaction, balance }: Deciding & Found & { readonly balance: bigint },
): Promise<void> {
  await lockAccount(tx, relayer.id)
  const reserved = await reservedBy(tx, relayer.id, { now: new Date(context.clock.now()) })
  const { unit } = context.runtimeOf(relayer).chain
  const shortage = shortOfFunds(relayer, { unit, balance, reserved, cost: transaction.cost })
  if (shortage) throw shortage
}

/** The receivers are no longer new for those whose rules required the approval. */
async function learnReceivers(
  context: TransactionsContext,
  tx: Tx,
  relayer: Relayer,
  { approval, transaction }: Found,
): Promise<void> {
  const subjects = approval.reasons.filter(({ rule }) => rule === NEW_RECEIVERS).map(({ subject }) => subject)
  if (subjects.length === 0) return
  const { receivers } = context.runtimeOf(relayer).chain.effects(transaction.request, transaction.from)
  await insertKnownReceivers(tx, { subjects, network: networkOf(relayer), receivers })
}
