import type { BroadcastResult } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import { refuseWaiting } from '../../spending/approvals.ts'
import { type Purchase, refusalIn, requireAllowed } from '../../spending/ledger.ts'
import { withEncodedArgs } from '../accept/checks.ts'
import { broadcastCurrent } from '../broadcast/broadcast.ts'
import { purchaseOf } from '../budgets/charge.ts'
import { askBeforeSend } from '../model/before-send.ts'
import { retryOnConflict } from '../model/retry-on-conflict.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findTransaction, requireTransaction } from '../store/lookups-store.ts'
import { sameBytes, signAttempt, storeSignedIn } from '../submit/sign.ts'
import { type ChangePlan, planChange } from './plan-change.ts'
import {
  auditChange,
  type Change,
  checkReplacementFunds,
  type Replaced,
  type Replacing,
  savePending,
  saveReplaced,
} from './replacement.ts'
import { evaluateReplacement, REPLACEMENT_CANNOT_WAIT, replacementRefusal } from './replacement-refusal.ts'
import { undoIfRefused } from './undo-replacement.ts'

/** A cancellation that a caller requests. */
export type Cancellation = Omit<Change, 'request'>

/** Changes transactions. */
export interface Replacer {
  /**
   * Replaces the content of a transaction.
   * @throws AppError `transaction_not_found`, `transaction_not_replaceable`, or the rule that the new content
   * breaks
   */
  replace(replacing: Replacing): Promise<Replaced>
  /** @throws AppError `transaction_not_found` or `transaction_not_replaceable` */
  cancel(cancellation: Cancellation): Promise<Replaced>
}

/**
 * Creates the replacer of this process. Concurrent changes of one transaction run one after the other; none
 * is lost.
 */
export function createReplacer(context: TransactionsContext): Replacer {
  const enqueue = createBatcher<Change, Replaced>({
    keyOf: (change) => change.id,
    maxItems: 1,
    run: (changes) => Promise.all(changes.map((change) => applyChange(context, change))),
  })
  return {
    replace: async (replacing) => {
      // Outside of the queue, so that a cancellation does not wait for an answer.
      const request = await requireConsent(context, replacing)
      return enqueue({ ...replacing, request, action: 'replaceTransaction' })
    },
    cancel: enqueue,
  }
}

/**
 * Asks about new content that the rules allow, and returns what was asked about: named arguments are encoded
 * once, so nothing else is signed.
 * @throws AppError `rule_violated`, `plugin_unavailable`, or the rule that it breaks
 */
async function requireConsent(context: TransactionsContext, replacing: Replacing): Promise<ChainRequest> {
  const { relayer, id, actor } = replacing
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, replacing.request)
  if (context.beforeSend === undefined) return request
  const item = await requireTransaction(context.db, relayer, id)
  const refusal = await refusalOfChange(
    context,
    { ...replacing, request, action: 'replaceTransaction' },
    item,
  )
  if (refusal) throw refusal
  const asked = await askBeforeSend(context, {
    action: 'replace',
    relayer,
    actor,
    request,
    effects: () => chain.effects(request, relayer.address),
    transactionId: id,
    lane: item.transaction.lane,
  })
  if (asked.failure) throw asked.failure
  requireAllowed(refuseWaiting(asked.results, REPLACEMENT_CANNOT_WAIT))
  return request
}

/** Returns the first reason for which the state of the transaction or a rule refuses a change. */
async function refusalOfChange(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<AppError | undefined> {
  const { request } = change
  const refusal = replacementRefusal(context, change, item)
  if (refusal !== undefined || request === undefined) return refusal
  return refusalIn(await evaluateReplacement(context, { ...change, request }))
}

async function applyChange(context: TransactionsContext, change: Change): Promise<Replaced> {
  const { relayer, id } = change
  return retryOnConflict({ id, doing: 'replaced' }, async () => {
    const item = await requireTransaction(context.db, relayer, id)
    const refusal = await refusalOfChange(context, change, item)
    if (refusal) throw refusal
    if (change.request === undefined && item.transaction.purpose === 'cancel')
      return { ...item, logs: ['The cancellation is already running.'] }
    const planned = await planChange(context, change, item)
    if (planned.refusal !== undefined || planned.plan === undefined) throw planned.refusal
    return carryOut(context, { change, before: item, plan: planned.plan })
  })
}

/** A decided change. */
interface DecidedChange {
  readonly change: Change
  /** The transaction as it was. */
  readonly before: TransactionWithAttempts
  readonly plan: ChangePlan
}

/** Stores a decided change, and broadcasts what it signs. Undefined if the record has since changed. */
export async function carryOut(
  context: TransactionsContext,
  decided: DecidedChange,
): Promise<Replaced | undefined> {
  const { change, before, plan } = decided
  const { relayer, id } = change
  const { transaction, cost, nonces, logs } = plan
  if (plan.needsFunds) await checkReplacementFunds(context, { relayer, id, cost })
  // Until the chain decides, the sender of the earlier content keeps its charge, because either of them can
  // be included. New content is charged by its own price: the record has the highest one of all content that
  // can be included.
  const purchase = change.request && purchaseOf(context.runtimeOf(relayer), change, { ...transaction, cost })
  if (plan.attempt !== undefined) return signChange(context, { ...decided, purchase }, plan.attempt)
  const done = plan.isUnsigned && change.request ? [unsignedLog(before.attempts)] : []
  const replaced = { transaction, attempts: before.attempts, logs: [...done, ...logs] }
  const save = plan.isUnsigned ? savePending : saveReplaced
  return save(context, { change, before: before.transaction, replaced, purchase }, nonces)
}

function unsignedLog(attempts: readonly Attempt[]): string {
  return attempts.length === 0
    ? 'Nothing had been signed; the new content replaced it.'
    : 'The signed attempts no longer count; the new content replaced them.'
}

/** Signs and stores a further attempt, and broadcasts it before the caller gets the response. */
async function signChange(
  context: TransactionsContext,
  { change, before, plan, purchase }: DecidedChange & { readonly purchase: Purchase | undefined },
  planned: NonNullable<ChangePlan['attempt']>,
): Promise<Replaced | undefined> {
  const runtime = context.runtimeOf(change.relayer)
  const signable = { transaction: plan.transaction, attempts: before.attempts, ...planned }
  const attempt = await signAttempt(context, runtime, signable)
  const known = sameBytes(before.attempts, attempt)
  if (known)
    throw new AppError(
      'replacement_underpriced',
      `The same bytes were refused before: ${known.error ?? known.outcome}.`,
    )
  const now = new Date(context.clock.now())
  const stored = await transact(context.db, async (tx) => {
    const signed = [{ ...signable, attempt }]
    const [written] = await storeSignedIn(tx, { runtime, signed, now, purchase })
    if (written === undefined) return undefined
    await auditChange(tx, { change, before: before.transaction, after: written.transaction })
    return written
  })
  return stored && broadcastChange(context, { change, before, stored, attempt, logs: plan.logs })
}

interface StoredChange {
  readonly change: Change
  readonly before: TransactionWithAttempts
  readonly stored: TransactionWithAttempts
  readonly attempt: Attempt
  readonly logs: readonly string[]
}

async function broadcastChange(
  context: TransactionsContext,
  { change, before, stored, attempt: { number, signed }, logs }: StoredChange,
): Promise<Replaced> {
  const [broadcasted] = await broadcastCurrent(context, context.runtimeOf(change.relayer), [stored])
  if (broadcasted) {
    const { result } = broadcasted
    await undoIfRefused(context, { change, before, number, hash: signed.hash, result })
  }
  const now = await findTransaction(context.db, change.relayer.id, change.id)
  return { ...(now ?? stored), logs: [...logs, ...waitLog(broadcasted?.result)] }
}

function waitLog(result: BroadcastResult | undefined): string[] {
  if (result === undefined || result.kind === 'accepted') return []
  return [
    `Stored and signed, but no node has accepted it yet (${result.detail}); the service keeps broadcasting it.`,
  ]
}
