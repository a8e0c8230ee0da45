import type { Actor } from '../../access/principal.ts'
import { appendEntries } from '../../audit/append-store.ts'
import { auditLogOf } from '../../audit/entry.ts'
import type { ExternalNonce } from '../../chains/capabilities.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError, relayerNotFound } from '../../errors.ts'
import { isFurtherAccount, poolIdOf } from '../../relayers/accounts/pool.ts'
import { findLaneAccount, lockLanes } from '../../relayers/accounts/pool-store.ts'
import { inactive, shortOfFunds } from '../../relayers/policies/policy.ts'
import { networkOf, type Relayer } from '../../relayers/relayer.ts'
import { lockForAdding } from '../../relayers/store.ts'
import { evaluateApprovals } from '../../spending/approvals.ts'
import { type LockedLedger, openLedger, refusalIn } from '../../spending/ledger.ts'
import type { RuleResult } from '../../spending/rule.ts'
import {
  addOpen,
  type RiskByPayer,
  readAtRisk,
  riskRefusal,
  usedQuote,
} from '../../sponsoring/fee-payment.ts'
import { findUsedQuotes, useQuotes } from '../../sponsoring/quotes-store.ts'
import { type LockedPredecessor, lockPredecessors } from '../after/after-store.ts'
import { insertApprovals, type NewApproval } from '../approvals/approvals-store.ts'
import { awaitApproval } from '../approvals/await-approval.ts'
import { isLimited, purchaseOf } from '../budgets/charge.ts'
import { spendersOf } from '../budgets/spenders.ts'
import { auditedAction } from '../model/audited-transaction.ts'
import { isScheduled } from '../model/due.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { reservedBy } from '../store/due-store.ts'
import {
  findKeys,
  insertKeys,
  type KeyRecord,
  KeyTakenError,
  type UsedKeys,
} from '../store/idempotency-store.ts'
import { insertTransactions } from '../store/transactions-store.ts'
import { awaitPredecessor, MAX_AFTER_DEPTH } from './await-predecessor.ts'
import { externalNonceProblem, keyOf, usedExternalNonces } from './checks.ts'
import { type IdempotencyKey, keyReuseError } from './idempotency.ts'

/** A request that passed every check that needs no other request. */
export interface Candidate {
  readonly relayer: Relayer
  readonly transaction: Transaction
  /**
   * The amount that the account can spend. When no node answered, it is absent and the nodes decide at the
   * broadcast.
   */
  readonly balance: bigint | undefined
  /** The sender; one batch has candidates of many. */
  readonly actor: Actor
  readonly idempotencyKey: IdempotencyKey | undefined
  /** The answers of those who were asked about it: all of them allow it, some with an approval. */
  readonly asked?: readonly RuleResult[] | undefined
  /** Reasons of rules to wait for an approval that another key has approved already. */
  readonly approved?: readonly ApprovedReason[] | undefined
}

/** A reason of a rule to wait for an approval. Only one with the same words counts as approved. */
export type ApprovedReason = Pick<RuleResult, 'subject' | 'rule' | 'detail'>

/** A transaction that is stored. */
interface Admitted {
  readonly transaction: Transaction
  /** Present when it waits for an approval. */
  readonly approval?: NewApproval | undefined
}

/** The facts that depend on other requests and on the budgets. */
interface Considered {
  /** The results of the rules for approvals, of the programs of the operator, and of the budgets. */
  readonly results: readonly RuleResult[]
  /** The amount that other transactions reserve, in the smallest unit. */
  readonly reserved: bigint
}

/**
 * The result for a candidate. `repeated`: an earlier request with the same idempotency key created this
 * transaction.
 */
export type Decision =
  | ({ readonly kind: 'admitted' } & Admitted & Considered)
  | { readonly kind: 'repeated'; readonly transactionId: string }
  | ({ readonly kind: 'refused'; readonly error: AppError } & Partial<Considered>)

/** Settings of an admission. */
interface AdmissionOptions {
  /**
   * Stores nothing when one of the candidates is refused; they are of one relayer. Default: stores the
   * others.
   */
  readonly allOrNone?: boolean
  /** Runs first, in the database transaction of the admission. Its error refuses every candidate. */
  readonly guard?: ((tx: Tx) => Promise<AppError | undefined>) | undefined
  /**
   * Writes what belongs to the same commit as the decisions about the candidates of a relayer. Its error takes
   * everything back.
   */
  readonly conclude?: ((tx: Tx, decisions: readonly Decision[]) => Promise<void>) | undefined
  /** Takes everything back, and returns what would have been decided. */
  readonly isDryRun?: boolean
}

/**
 * Admits many requests in one database transaction; of one relayer, unless the database has one session only.
 * The locks keep the reserved sums true until the commit, so concurrent requests cannot spend the same money,
 * use the same nonce, or use an idempotency key twice.
 */
export async function admitCandidates(
  context: TransactionsContext,
  candidates: readonly Candidate[],
  options: AdmissionOptions = {},
): Promise<Decision[]> {
  if (candidates.length === 0) return []
  for (let tries = 1; ; tries += 1) {
    try {
      return await admitOnce(context, candidates, options)
    } catch (error) {
      if (error instanceof DryRunEnd) return error.decisions
      // Nothing was stored. The next try finds the key.
      if (!(error instanceof KeyTakenError) || tries >= MAX_TRIES) throw error
    }
  }
}

/** Rolls the database transaction of a dry run back. */
class DryRunEnd extends Error {
  override readonly name = 'DryRunEnd'

  readonly decisions: Decision[]

  constructor(decisions: Decision[]) {
    super('a dry run was decided')
    this.decisions = decisions
  }
}

/** Each try fails only because another request was accepted in the meantime. */
const MAX_TRIES = 20

function admitOnce(
  context: TransactionsContext,
  candidates: readonly Candidate[],
  { allOrNone = false, guard, conclude, isDryRun = false }: AdmissionOptions,
): Promise<Decision[]> {
  const groups = [...Map.groupBy(candidates, ({ relayer }) => relayer.id)]
  return transact(context.db, async (tx) => {
    const error = await guard?.(tx)
    if (error !== undefined) return candidates.map(() => ({ kind: 'refused', error }))
    const now = context.clock.now()
    const movedLanes = await lockLanesOf(tx, candidates)
    const decisions = new Map<Candidate, Decision>()
    for (const [id, group] of groups) {
      const decided = await admitGroup(context, group, { tx, id, now, allOrNone, movedLanes, conclude })
      for (const [index, candidate] of group.entries()) {
        const decision = decided[index]
        if (decision !== undefined) decisions.set(candidate, decision)
      }
    }
    const inOrder = candidates.flatMap((candidate) => decisions.get(candidate) ?? [])
    if (isDryRun) throw new DryRunEnd(inOrder)
    return inOrder
  })
}

interface Round {
  readonly tx: Tx
  /** The id of the relayer. */
  readonly id: string
  /** In ms since the epoch. */
  readonly now: number
  readonly allOrNone: boolean
  readonly movedLanes: ReadonlySet<Candidate>
  readonly conclude: AdmissionOptions['conclude']
}

/**
 * The refusal of a transaction whose lane has an open transaction on another account. The acceptor then takes
 * that one.
 */
export const LANE_MOVED = new AppError('in_use', 'The lane has another account.')

/**
 * Locks the lanes of the candidates, and finds those whose lane belongs to another account than the chosen
 * one.
 */
async function lockLanesOf(tx: Tx, candidates: readonly Candidate[]): Promise<Set<Candidate>> {
  const moved = new Set<Candidate>()
  const pooled = candidates.filter(
    ({ relayer, transaction }) =>
      transaction.lane !== undefined && (relayer.accounts !== undefined || isFurtherAccount(relayer)),
  )
  const byPool = Map.groupBy(pooled, ({ relayer }) => poolIdOf(relayer.id))
  for (const [poolId, those] of [...byPool].sort(([one], [other]) => (one < other ? -1 : 1))) {
    await lockLanes(tx, { poolId, lanes: those.flatMap(({ transaction }) => transaction.lane ?? []) })
    for (const candidate of those) {
      const { lane } = candidate.transaction
      const owner = lane && (await findLaneAccount(tx, { poolId, lane }))
      if (owner !== undefined && owner !== candidate.relayer.id) moved.add(candidate)
    }
  }
  return moved
}

/**
 * Decides about the candidates of one relayer, and stores those that are admitted: the decisions about the
 * next relayer depend on it.
 */
async function admitGroup(
  context: TransactionsContext,
  candidates: readonly Candidate[],
  { tx, id, now, allOrNone, movedLanes, conclude }: Round,
): Promise<Decision[]> {
  const [first] = candidates
  if (first === undefined) return []
  // Read again under the lock: a relayer may have been deleted or disabled since the candidate was created.
  const relayer = await lockForAdding(tx, id)
  if (relayer === undefined)
    return candidates.map(() => ({ kind: 'refused', error: relayerNotFound(poolIdOf(id)) }))
  const runtime = context.runtimeOf(first.relayer)
  const reserved = await reservedBy(tx, id, { now: new Date(now) })
  const nonces = candidates.flatMap(externalNonceOf)
  const usedNonces = await usedExternalNonces(tx, runtime, { relayerId: id, nonces })
  // Before the budgets: database/locks/lock-order.md.
  const predecessors = await lockPredecessors(tx, candidates.flatMap(predecessorOf), MAX_AFTER_DEPTH)
  const usedQuotes = await findUsedQuotes(tx, candidates.flatMap(quoteOf))
  const risks = await readAtRisk(tx, { relayerId: id, payers: candidates.flatMap(payerOf), now })
  const keys = await findKeys(
    tx,
    id,
    candidates.flatMap(({ idempotencyKey }) => idempotencyKey ?? []),
  )
  const spenders = candidates.flatMap(({ actor }) => spendersOf(relayer, actor))
  const limits = { spenders, network: networkOf(relayer) }
  const ledger = await openLedger(tx, { now: new Date(now), limits })
  const waiting = await evaluateApprovals(tx, networkOf(relayer), candidates.map(contentOf(runtime, relayer)))
  const admission = {
    refusal: unusable(relayer),
    movedLanes,
    predecessors,
    usedNonces,
    usedQuotes,
    risks,
    keys,
    reserved,
    ledger,
    relayer,
    waiting,
    now,
  }
  const decisions = decide(runtime, candidates, admission)
  if (allOrNone && decisions.some(({ kind }) => kind === 'refused')) return decisions
  const admitted = candidates.flatMap((candidate, index) => {
    const decision = decisions[index]
    return decision?.kind === 'admitted' ? [{ ...candidate, ...decision }] : []
  })
  await insertTransactions(
    tx,
    admitted.map(({ transaction }) => transaction),
  )
  await useQuotes(
    tx,
    admitted.flatMap(({ transaction }) =>
      quoteOf({ transaction }).map((quoteId) => ({ quoteId, transactionId: transaction.id })),
    ),
  )
  await insertApprovals(
    tx,
    admitted.flatMap(({ approval }) => approval ?? []),
  )
  await insertKeys(tx, id, admitted.flatMap(keyRecordOf))
  await ledger.save()
  await conclude?.(tx, decisions)
  await appendEntries(tx, auditLogOf(id), admitted.map(auditedSending))
  return decisions
}

function auditedSending({ transaction, actor, results }: Candidate & Admitted & Considered) {
  return auditedAction(transaction.id, { actor, action: 'sendTransaction' }, { after: transaction, results })
}

function contentOf({ chain }: RelayerRuntime, relayer: Relayer) {
  return ({ actor, transaction: { request, from } }: Candidate) => ({
    spenders: spendersOf(relayer, actor),
    effects: () => chain.effects(request, from),
  })
}

/** Everything that a candidate can conflict with. Each admitted candidate adds to it. */
interface AdmissionState {
  /** The reason why the relayer accepts nothing; undefined if it accepts. */
  readonly refusal: AppError | undefined
  readonly movedLanes: ReadonlySet<Candidate>
  /** The transactions that candidates wait for, by id. */
  readonly predecessors: ReadonlyMap<string, LockedPredecessor>
  /** Each entry is `address nonce`. */
  readonly usedNonces: Set<string>
  readonly usedQuotes: Set<string>
  /** What the users who pay have at risk. */
  readonly risks: RiskByPayer
  readonly keys: UsedKeys
  readonly reserved: bigint
  /** The budgets of the relayer and of every API key of the batch. */
  readonly ledger: LockedLedger
  readonly relayer: Relayer
  /** The reasons for which each candidate waits for an approval. */
  readonly waiting: readonly (readonly RuleResult[])[]
  /** In ms since the epoch. */
  readonly now: number
}

function decide(
  runtime: RelayerRuntime,
  candidates: readonly Candidate[],
  {
    refusal,
    movedLanes,
    predecessors,
    usedNonces,
    usedQuotes,
    risks,
    keys,
    reserved: before,
    ledger,
    relayer,
    waiting,
    now,
  }: AdmissionState,
): Decision[] {
  let reserved = before
  const followers = new Map<string, number>()
  return candidates.map((sent, index) => {
    const awaited = awaitPredecessor(sent.transaction, predecessors, followers)
    const candidate = { ...sent, transaction: awaited.transaction }
    const earlier = candidate.idempotencyKey && keys.get(candidate.idempotencyKey)
    if (candidate.idempotencyKey && earlier) return repeatOrRefuse(earlier, candidate.idempotencyKey)
    const purchase = purchaseOf(runtime, { relayer, actor: candidate.actor }, candidate.transaction)
    const { asked = [] } = candidate
    const ofBudgets = purchase ? ledger.evaluate(purchase) : []
    const { approved = [] } = candidate
    const unapproved = (waiting[index] ?? []).filter((reason) => !isApproved(reason, approved))
    const results = [...unapproved, ...asked, ...ofBudgets]
    const reasons = results.filter(({ requiresApproval }) => requiresApproval === true)
    // Its funds are checked when it is signed.
    const isLater = isScheduled(candidate.transaction, now) || candidate.transaction.awaitsPrice === true
    const error =
      refusal ??
      (movedLanes.has(sent) ? LANE_MOVED : undefined) ??
      (quoteOf(candidate).some((id) => usedQuotes.has(id)) ? usedQuote() : undefined) ??
      payerOf(candidate).map((payer) => riskRefusal(risks, payer))[0] ??
      awaited.problem ??
      nonceProblem(runtime, candidate, usedNonces) ??
      (isLater ? undefined : insufficientFunds(runtime, candidate, reserved)) ??
      refusalIn(ofBudgets)
    if (error) return { kind: 'refused', error, results, reserved }
    const considered = { results, reserved }
    // Nothing is reserved for a transaction that waits for an approval, its time, another one, or a price.
    for (const id of predecessorOf(candidate)) followers.set(id, (followers.get(id) ?? 0) + 1)
    if (reasons.length === 0 && !isLater) reserved += candidate.transaction.cost
    if (purchase) ledger.reserve(purchase)
    for (const externalNonce of externalNonceOf(candidate)) usedNonces.add(keyOf(externalNonce))
    for (const id of quoteOf(candidate)) usedQuotes.add(id)
    for (const payer of payerOf(candidate)) addOpen(risks, payer)
    for (const record of keyRecordOf(candidate)) keys.add(record)
    const { actor } = candidate
    const isBudgeted = isLimited({ relayer, actor }) || undefined
    const transaction = { ...candidate.transaction, isBudgeted }
    const stored =
      reasons.length === 0
        ? { transaction }
        : awaitApproval(transaction, { relayer, actor, chain: runtime.chain, results: reasons })
    return { kind: 'admitted', ...stored, ...considered }
  })
}

function isApproved({ subject, rule, detail }: RuleResult, approved: readonly ApprovedReason[]): boolean {
  return approved.some((one) => one.subject === subject && one.rule === rule && one.detail === detail)
}

/** A further account that leaves is as good as gone. */
function unusable(relayer: Relayer): AppError | undefined {
  return inactive(relayer) ?? (relayer.draining === true ? ACCOUNT_LEAVES : undefined)
}

/** The refusal of an account that takes no new work. The acceptor then takes another one. */
export const ACCOUNT_LEAVES = new AppError('in_use', 'The account leaves its relayer.')

function repeatOrRefuse(earlier: KeyRecord, idempotencyKey: IdempotencyKey): Decision {
  const error = keyReuseError(earlier, idempotencyKey)
  return error ? { kind: 'refused', error } : { kind: 'repeated', transactionId: earlier.transactionId }
}

function keyRecordOf({ idempotencyKey, transaction }: Candidate): KeyRecord[] {
  return idempotencyKey === undefined ? [] : [{ ...idempotencyKey, transactionId: transaction.id }]
}

/** Without a known balance there is no refusal: the nodes decide at the broadcast (I6). */
function insufficientFunds(
  { chain }: RelayerRuntime,
  { relayer, transaction, balance }: Candidate,
  reserved: bigint,
): AppError | undefined {
  if (balance === undefined) return undefined
  return shortOfFunds(relayer, { unit: chain.unit, balance, reserved, cost: transaction.cost })
}

function externalNonceOf({ transaction: { sourceAccount, nonce } }: Candidate): ExternalNonce[] {
  return sourceAccount === undefined || nonce === undefined ? [] : [{ address: sourceAccount, nonce }]
}

/** Returns the transaction that the candidate waits for, if it waits for one. */
function predecessorOf({ transaction: { awaitsTransaction } }: Pick<Candidate, 'transaction'>): string[] {
  return awaitsTransaction === undefined ? [] : [awaitsTransaction]
}

/** Returns the quote that the candidate uses, if it pays for its fee. */
function quoteOf({ transaction: { request } }: Pick<Candidate, 'transaction'>): string[] {
  const { payment } = request
  return payment === undefined ? [] : [payment.quoteId]
}

/** Returns the user who pays for the fee of the candidate, if one does. */
function payerOf({ transaction: { request } }: Pick<Candidate, 'transaction'>): string[] {
  const { payment } = request
  return payment === undefined ? [] : [payment.payer]
}

/**
 * The nonce of pre-signed content must be unused, and must not belong to an account whose nonces this service
 * assigns.
 */
function nonceProblem(
  runtime: RelayerRuntime,
  candidate: Candidate,
  used: ReadonlySet<string>,
): AppError | undefined {
  const [externalNonce] = externalNonceOf(candidate)
  return externalNonce && externalNonceProblem(runtime, externalNonce, used)
}
