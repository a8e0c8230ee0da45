import type { Actor } from '../../access/principal.ts'
import { appendEntries } from '../../audit/append-store.ts'
import { auditLogOf, SERVICE } from '../../audit/entry.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Db } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { expirySeconds } from '../../spending/approvals.ts'
import type { RuleResult } from '../../spending/rule.ts'
import { spendersOf } from '../budgets/spenders.ts'
import { auditedDecision } from '../model/audited-transaction.ts'
import { reportFinished } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { ENDED_UNSIGNED, type Transaction } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findTransaction } from '../store/lookups-store.ts'
import { saveTransactions } from '../store/transactions-store.ts'
import {
  findApproved,
  findLateApprovals,
  type LateApproval,
  type NewApproval,
  saveDecision,
} from './approvals-store.ts'

/** A transaction that waits for an approval. */
interface AwaitingTransaction {
  readonly transaction: Transaction
  readonly approval: NewApproval
}

interface Waiting {
  readonly relayer: Relayer
  readonly actor: Actor
  readonly chain: Pick<Chain, 'endsAt'>
  readonly results: readonly RuleResult[]
}

/** Makes a new transaction wait until another API key decides, or its time is over. Pure. */
export function awaitApproval(
  transaction: Transaction,
  { relayer, actor, chain, results }: Waiting,
): AwaitingTransaction {
  const reasons = results.map(({ subject, rule, detail }) => ({ subject, rule, detail }))
  const createdAt = transaction.createdAt
  const longest = new Date(createdAt.getTime() + expirySeconds(spendersOf(relayer, actor), results) * 1_000)
  const end = chain.endsAt(transaction.request)
  const expiresAt = end !== undefined && end < longest ? end : longest
  const details = reasons.map(({ detail }) => detail).join(' ')
  return {
    transaction: {
      ...transaction,
      awaitsApproval: true,
      statusReason: `It waits for an approval until ${expiresAt.toISOString()}. ${details}`,
    },
    approval: {
      transactionId: transaction.id,
      relayerId: relayer.id,
      requestedBy: actor.keyId,
      reasons,
      createdAt,
      expiresAt,
    },
  }
}

/** An approval that a transaction needs again. */
type RepeatedApproval = Pick<NewApproval, 'transactionId' | 'createdAt' | 'expiresAt'>

/**
 * Finds the approvals of transactions whose next version could be executed in addition to the approved one.
 * The new decision has as much time as the first one had.
 */
export async function findApprovalsToRepeat(
  db: Db,
  { chain, now }: { readonly chain: Pick<Chain, 'endsAt'>; readonly now: Date },
  transactions: readonly Transaction[],
): Promise<Map<string, RepeatedApproval>> {
  const approved = await findApproved(
    db,
    transactions.map(({ id }) => id),
  )
  const ends = new Map(transactions.map(({ id, request }) => [id, chain.endsAt(request)]))
  return new Map(
    approved.map(({ transactionId, createdAt, expiresAt }) => {
      const longest = new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime())
      const end = ends.get(transactionId)
      return [
        transactionId,
        { transactionId, createdAt: now, expiresAt: end !== undefined && end < longest ? end : longest },
      ]
    }),
  )
}

/** Makes a transaction wait until its next version is approved; without an approval it is unchanged. Pure. */
export function awaitAgain(transaction: Transaction, approval: RepeatedApproval | undefined): Transaction {
  if (approval === undefined) return transaction
  const statusReason = `${transaction.statusReason ?? ''} Only one endpoint or an operator says that the approved version was not included, so the next one waits for a new approval until ${approval.expiresAt.toISOString()}.`
  return { ...transaction, awaitsApproval: true, statusReason: statusReason.trim() }
}

/** The most transactions in one round; the next round takes the others. */
const MAX_TRANSACTIONS = 200

/**
 * Ends the transactions that waited for an approval and did not get it in time. A crash before it loses
 * nothing: the next round ends them.
 */
export async function expireApprovals(context: TransactionsContext): Promise<void> {
  const now = new Date(context.clock.now())
  for (const late of await findLateApprovals(context.db, now, MAX_TRANSACTIONS))
    await expire(context, late, now)
}

/** Changes nothing if it has since been decided: every write is guarded by the version that was read. */
async function expire(
  context: TransactionsContext,
  { transactionId: id, relayerId }: LateApproval,
  now: Date,
): Promise<void> {
  const item = await findTransaction(context.db, relayerId, id)
  if (item?.transaction.awaitsApproval !== true) return
  const { transaction } = item
  const expired = {
    ...transaction,
    ...ENDED_UNSIGNED,
    status: nextStatus(transaction.status, 'expired'),
    statusReason: 'It was not approved in time; nothing was signed.',
  }
  const { db } = context
  const saved = await transact(db, async (tx) => {
    const written = await saveTransactions(tx, [expired])
    if (written.length === 0) return written
    await saveDecision(tx, id, { decision: 'expired', decidedAt: now })
    const entry = auditedDecision(transaction, {
      author: SERVICE,
      action: 'expireApproval',
      decision: 'expired',
    })
    await appendEntries(tx, auditLogOf(relayerId), [entry])
    return written
  })
  reportFinished(context, saved)
}
