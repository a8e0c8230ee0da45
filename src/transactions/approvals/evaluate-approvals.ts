import type { Actor } from '../../access/principal.ts'
import { appendEntries } from '../../audit/append-store.ts'
import { auditLogOf, SERVICE } from '../../audit/entry.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Effects } from '../../chains/effects.ts'
import type { Db } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { evaluateApproval } from '../../spending/evaluate-approval.ts'
import type { RuleResult } from '../../spending/evaluate-content.ts'
import { findKnownReceivers } from '../../spending/known-receivers-store.ts'
import { DEFAULT_EXPIRY_SECONDS, type Spender } from '../../spending/rules.ts'
import { spendersOf } from '../budgets/evaluate-request.ts'
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

/** Content, and the sender of it. */
interface SentContent {
  readonly actor: Actor
  /** Called only if a rule needs it. */
  readonly effects: () => Effects
}

/**
 * Evaluates the approval rules of a relayer and of the senders for contents, and returns the reasons of each to wait. It uses the database
 * only if a rule is about new receivers; a receiver that becomes known in the meantime counts as new.
 */
export async function evaluateApprovals(
  db: Db,
  relayer: Relayer,
  contents: readonly SentContent[],
): Promise<RuleResult[][]> {
  const ruled = contents.map(({ actor, effects }) => {
    const spenders = spendersOf(relayer, actor).filter(({ rules }) => rules.require_approval !== undefined)
    return spenders.length === 0 ? undefined : { spenders, effects: effects() }
  })
  const known = ruled.filter((one) => one !== undefined)
  if (known.length === 0) return contents.map(() => [])
  const network = networkOf(relayer)
  const isKnown = await findKnownReceivers(db, {
    network,
    subjects: [...new Set(known.flatMap(({ spenders }) => subjectsOf(spenders)))],
    receivers: [...new Set(known.flatMap(({ effects }) => effects.receivers))],
  })
  return ruled.map(
    (one) =>
      one?.spenders.flatMap((spender) =>
        evaluateApproval(spender, {
          effects: one.effects,
          network,
          isKnown: (receiver) => isKnown(spender.subject, receiver),
        }),
      ) ?? [],
  )
}

function subjectsOf(spenders: readonly Spender[]): string[] {
  return spenders
    .filter(({ rules }) => rules.require_approval?.new_receivers === true)
    .map(({ subject }) => subject)
}

/**
 * Turns the reasons for which content would have to wait into refusals, for content that cannot wait.
 * @param remedy A sentence that says why it cannot, and what to do.
 */
export function refuseWaiting(results: readonly RuleResult[], remedy: string): RuleResult[] {
  return results.map(({ requiresApproval, ...result }) =>
    requiresApproval === true ? { ...result, allowed: false, detail: `${result.detail} ${remedy}` } : result,
  )
}

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
  const longest = new Date(createdAt.getTime() + expirySeconds(relayer, actor, results) * 1_000)
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

/** The shortest time of the spenders whose rules require the approval, in seconds. Others than spenders have no time of their own. */
function expirySeconds(relayer: Relayer, actor: Actor, results: readonly RuleResult[]): number {
  const asking = new Set(results.map(({ subject }) => subject))
  const times = spendersOf(relayer, actor)
    .filter(({ subject }) => asking.has(subject))
    .map(({ rules }) => rules.require_approval?.expires_after_seconds ?? DEFAULT_EXPIRY_SECONDS)
  return times.length === 0 ? DEFAULT_EXPIRY_SECONDS : Math.min(...times)
}

/** An approval that a transaction needs again. */
type RepeatedApproval = Pick<NewApproval, 'transactionId' | 'createdAt' | 'expiresAt'>

interface RepeatContext {
  readonly chain: Pick<Chain, 'endsAt'>
  readonly now: Date
}

/**
 * Finds the approvals of transactions whose next version could be executed in addition to the approved one. The new decision has as much
 * time as the first one had.
 */
export async function findApprovalsToRepeat(
  db: Db,
  { chain, now }: RepeatContext,
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

/** Ends the transactions that waited for an approval and did not get it in time. A crash before it loses nothing: the next round ends them. */
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
