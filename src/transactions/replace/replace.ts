import type { Answer, BroadcastResult } from '../../chains/answer.ts'
import type {
  AfterExpiry,
  Attempt,
  AttemptKind,
  Draft,
  Prepared,
  SetupRequired,
} from '../../chains/attempt.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import { larger } from '../../lib/bigint.ts'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import { refusalIn, requireAllowed } from '../../spending/book.ts'
import { prepareContent, withEncodedArgs } from '../accept/checks.ts'
import { refusedBy } from '../accept/evaluate.ts'
import { refuseWaiting } from '../approvals/evaluate-approvals.ts'
import { broadcastCurrent } from '../broadcast/broadcast.ts'
import { chargeChange, isLimited } from '../budgets/charge.ts'
import { spendersOf } from '../budgets/evaluate-request.ts'
import { attemptsAtNonce, unprovenAttempts } from '../model/attempts.ts'
import { askBeforeSend } from '../model/before-send.ts'
import { isScheduled, WATCHED_MS } from '../model/due.ts'
import {
  accountOf,
  contentNonce,
  hasNonce,
  isExternallySigned,
  type RelayerRuntime,
  type TransactionsContext,
} from '../model/runtime.ts'
import { noopReason } from '../model/status-reasons.ts'
import {
  ENDED_UNSIGNED,
  type Purpose,
  type Transaction,
  type TransactionWithAttempts,
} from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findTransaction, requireTransaction } from '../store/lookups-store.ts'
import { sameBytes, signAttempt, storeSignedIn } from '../submit/sign.ts'
import { withWish } from '../watch/undecided.ts'
import {
  auditChange,
  type Change,
  checkReplacementFunds,
  type NonceChange,
  type Replaced,
  type Replacing,
  savePending,
  saveReplaced,
} from './replacement.ts'
import { evaluateReplacement, REPLACEMENT_CANNOT_WAIT, replacementRefusal } from './replacement-refusal.ts'
import { undoIfRefused } from './undo-replacement.ts'

/** The maximum number of tries: a try fails when a worker changes the record between the read and the write. */
const MAX_TRIES = 20

/** A cancellation that a caller requests. */
export type Cancellation = Omit<Change, 'request'>

/** Changes transactions. */
export interface Replacer {
  /**
   * Replaces the content of a transaction.
   * @throws AppError `transaction_not_found`, `transaction_not_replaceable`, or the rule that the new content breaks
   */
  replace(replacing: Replacing): Promise<Replaced>
  /** @throws AppError `transaction_not_found` or `transaction_not_replaceable` */
  cancel(cancellation: Cancellation): Promise<Replaced>
}

/** Creates the replacer of this process. Concurrent changes of one transaction run one after the other; none is lost. */
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
 * Asks about new content that the rules allow, and returns what was asked about: named arguments are encoded once, so nothing else is signed.
 * @throws AppError `rule_violated`, `plugin_unavailable`, or the rule that it breaks
 */
async function requireConsent(context: TransactionsContext, replacing: Replacing): Promise<ChainRequest> {
  if (context.beforeSend === undefined) return replacing.request
  const { relayer, id, actor } = replacing
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, replacing.request)
  const item = await requireTransaction(context.db, relayer, id)
  const change = { ...replacing, request, action: 'replaceTransaction' } as const
  const refusal = replacementRefusal(context, change, item)
  if (refusal) throw refusal
  requireAllowed(await evaluateReplacement(context, { relayer, request, actor }))
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

async function applyChange(context: TransactionsContext, sent: Change): Promise<Replaced> {
  const { relayer, id, actor } = sent
  const { chain } = context.runtimeOf(relayer)
  const request = sent.request && (await withEncodedArgs(chain, sent.request))
  const change = request === undefined ? sent : { ...sent, request }
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const item = await requireTransaction(context.db, relayer, id)
    const refusal =
      replacementRefusal(context, change, item) ??
      (request && refusalIn(await evaluateReplacement(context, { relayer, request, actor })))
    if (refusal) throw refusal
    if (request === undefined && item.transaction.purpose === 'cancel') {
      return { ...item, logs: ['The cancellation is already running.'] }
    }
    const replaced = await replaceNow(context, change, item)
    if (replaced) return replaced
  }
  throw new Error(`transaction ${id} changed ${MAX_TRIES} times while it was being replaced`)
}

function replaceNow(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Replaced | undefined> {
  if (item.transaction.undecidedSince !== undefined) return replaceUndecided(context, change, item)
  return mustReplaceSigned(context, change, item)
    ? replaceSigned(context, change, item)
    : replacePending(context, change, item)
}

/**
 * Nothing is signed for an undecided transaction: the chain may have executed it already, and its nonce is used. The change waits for the
 * decision, and takes effect if nothing was included.
 */
async function replaceUndecided(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Replaced | undefined> {
  const { relayer, request } = change
  const { chain } = context.runtimeOf(relayer)
  if (request === undefined)
    return keepForLater(context, change, item, { kind: 'after_expiry', detail: LATER.cancel })
  const trial = await chain.prepare(request, accountOf(relayer))
  if (trial.kind === 'refused') throw unpreparedError(trial)
  const cost = trial.kind === 'ok' ? { cost: chain.cost(trial.value.draft) } : {}
  return keepForLater(context, change, item, { kind: 'after_expiry', detail: LATER.replace, ...cost })
}

const LATER = {
  cancel: 'It is unknown whether it was included; it ends as canceled when it is decided that it was not.',
  replace:
    'It is unknown whether the earlier version was included; the new one is sent when it is decided that it was not.',
} as const

/** Content with another nonce does not exclude earlier bytes that a node may still have: a refusal of one node is no proof. */
export function mustReplaceSigned(
  context: TransactionsContext,
  { relayer, request }: Change,
  item: TransactionWithAttempts,
): boolean {
  const { transaction } = item
  if (transaction.status !== 'pending') return true
  if (request === undefined || unprovenAttempts(attemptsAtNonce(item)).length === 0) return false
  return !hasNonce(transaction, contentNonce(context.runtimeOf(relayer), transaction, request))
}

/** Signs and stores a further attempt with the same nonce, and broadcasts it before the caller gets the response. */
async function replaceSigned(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Replaced | undefined> {
  const { relayer, request } = change
  const runtime = context.runtimeOf(relayer)
  const account = accountOf(relayer)
  const earlier = attemptsAtNonce(item)
  const answer = await runtime.chain.replace(request ?? runtime.chain.noop(account), earlier, account)
  if (answer.kind === 'after_expiry') return keepForLater(context, change, item, answer)
  const { draft, logs } = requirePrepared(answer)
  if (request)
    await checkReplacementFunds(context, {
      relayer,
      id: item.transaction.id,
      cost: runtime.chain.cost(draft),
    })
  const { kind, ...plan } = PLANS[request ? 'replace' : 'cancel']
  const transaction = {
    ...item.transaction,
    ...plan,
    request: request ?? item.transaction.request,
    isBudgeted: item.transaction.isBudgeted || isLimited(change) || undefined,
  }
  const signable = { transaction, attempts: item.attempts, draft, kind }
  const attempt = await signAttempt(context, runtime, signable)
  const known = sameBytes(item.attempts, attempt)
  if (known)
    throw new AppError(
      'replacement_underpriced',
      `The same bytes were refused before: ${known.error ?? known.outcome}.`,
    )
  const signed = [{ ...signable, attempt }]
  const { db } = context
  const stored = await transact(db, async (tx) => {
    const payers = request ? spendersOf(relayer, change.actor) : []
    const [written] = await storeSignedIn(tx, { runtime, signed, payers })
    if (written && request) await chargeReplacement(context, tx, { change, written, draft })
    if (written) await auditChange(tx, { change, before: item.transaction, after: written.transaction })
    return written
  })
  return stored && broadcastChange(context, { change, before: item, stored, attempt, logs })
}

/** The new content is charged by its own price: the record has the highest one of all content that can be included. */
async function chargeReplacement(
  context: TransactionsContext,
  tx: Tx,
  {
    change,
    written: { transaction },
    draft,
  }: { readonly change: Change; readonly written: TransactionWithAttempts; readonly draft: Draft },
): Promise<void> {
  const cost = context.runtimeOf(change.relayer).chain.cost(draft)
  await chargeChange(context, tx, { replacing: change, transaction: { ...transaction, cost } })
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

/** Both attempts could be included, so the new content waits for the proof that the earlier one is not included (I2). */
async function keepForLater(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
  { detail, cost }: AfterExpiry,
): Promise<Replaced | undefined> {
  const { relayer, request } = change
  const { transaction, attempts } = item
  if (cost !== undefined) await checkReplacementFunds(context, { relayer, id: transaction.id, cost })
  const { externalSigning } = context.runtimeOf(relayer).chain
  const purpose = request ? 'successor' : 'cancel'
  const kept = {
    ...transaction,
    ...asSigned(item),
    request: request ?? transaction.request,
    purpose,
    statusReason: transaction.undecidedSince === undefined ? detail : withWish({ ...transaction, purpose }),
    cost: larger(transaction.cost, cost ?? 0n),
    isBudgeted: transaction.isBudgeted || (request && isLimited(change)) || undefined,
    nextRunAt: new Date(context.clock.now() + WATCHED_MS),
  } as const
  const claimed = request && externalSigning?.nonceOf(request)
  const replaced = { transaction: kept, attempts, logs: [detail] }
  return saveReplaced(context, { change, before: transaction, replaced, cost: cost ?? 0n }, { claimed })
}

/** The watcher follows the last attempt of a pending transaction again, because another node may have what one has refused. */
function asSigned(item: TransactionWithAttempts): Pick<Transaction, 'status' | 'currentAttempt'> {
  const { status, currentAttempt } = item.transaction
  if (status !== 'pending') return { status, currentAttempt }
  const last = unprovenAttempts(attemptsAtNonce(item)).at(-1)
  return { status: nextStatus(status, 'signed'), currentAttempt: last?.number }
}

const PLANS: Readonly<
  Record<'replace' | 'cancel', { purpose: Purpose; kind: AttemptKind; statusReason: string | undefined }>
> = {
  replace: { purpose: 'request', kind: 'replace', statusReason: undefined },
  cancel: {
    purpose: 'cancel',
    kind: 'cancel',
    statusReason: noopReason('canceled'),
  },
}

function waitLog(result: BroadcastResult | undefined): string[] {
  if (result === undefined || result.kind === 'accepted') return []
  return [
    `Stored and signed, but no node has accepted it yet (${result.detail}); the service keeps broadcasting it.`,
  ]
}

function requirePrepared(answer: Answer<Prepared> | SetupRequired): Prepared {
  const refusal = refusedBy(answer)
  if (refusal !== undefined) throw refusal
  if (answer.kind === 'ok') return answer.value
  throw unpreparedError(answer)
}

/** Returns the error of content that was not prepared. */
export function unpreparedError(answer: Exclude<Answer<Prepared>, { kind: 'ok' }> | SetupRequired): AppError {
  if (answer.kind === 'refused') return new AppError(answer.refusal.code, answer.refusal.detail)
  if (answer.kind === 'setup')
    return new AppError('not_supported', `${answer.detail} Cancel this transaction and send the new content.`)
  return new AppError(
    'network_unavailable',
    'No node of the network answers, so nothing was changed. Try again.',
    { cause: answer.detail },
  )
}

/** Replaces the content of a transaction without a current attempt. The worker signs it later. Undefined if the record has since changed. */
export async function replacePending(
  context: TransactionsContext,
  change: Change,
  { transaction, attempts }: TransactionWithAttempts,
): Promise<Replaced | undefined> {
  const { relayer, request } = change
  const nextRunAt = new Date(context.clock.now())
  const runtime = context.runtimeOf(relayer)
  if (request === undefined) {
    const canceled = canceledPending(runtime, { transaction, attempts }, nextRunAt)
    const replaced = { transaction: canceled, attempts, logs: [] }
    return savePending(context, { change, before: transaction, replaced, cost: 0n }, {})
  }
  const { chain } = runtime
  const prepared = await prepareContent({ relayer, request, chain, now: context.clock.now() })
  const refusal = refusedBy(prepared)
  if (refusal !== undefined) throw refusal
  const known = prepared.kind === 'ok' ? prepared.value : undefined
  const cost = known === undefined ? chain.amountOut(request) : chain.cost(known.draft)
  const nonce = contentNonce(runtime, transaction, request)
  const next: Transaction = {
    ...transaction,
    ...nonce,
    status: nextStatus(transaction.status, 'replaced'),
    // With a nonce it holds up the others, so it is signed at any price.
    ...(nonce.nonce === undefined && known?.awaitsPrice !== undefined
      ? { awaitsPrice: true, statusReason: known.awaitsPrice }
      : { awaitsPrice: undefined, statusReason: undefined }),
    request,
    purpose: 'request',
    estimatedGas: known?.knownGas,
    cost,
    isBudgeted: transaction.isBudgeted || isLimited(change) || undefined,
    nextRunAt,
  }
  if (!isScheduled(next, context.clock.now()) && next.awaitsPrice !== true)
    await checkReplacementFunds(context, { relayer, id: transaction.id, cost })
  const logs = [pendingLog(attempts), ...(known?.logs ?? [])]
  const replaced = { transaction: next, attempts, logs }
  const nonces = nonceChange(runtime, transaction, next)
  return savePending(context, { change, before: transaction, replaced, cost }, nonces)
}

function nonceChange(runtime: RelayerRuntime, before: Transaction, next: Transaction): NonceChange {
  if (hasNonce(before, { sourceAccount: next.sourceAccount, nonce: next.nonce })) return {}
  return {
    claimed: runtime.chain.externalSigning?.nonceOf(next.request),
    freed: isExternallySigned(runtime, before) ? undefined : before.sourceAccount,
  }
}

function pendingLog(attempts: readonly Attempt[]): string {
  return attempts.length === 0
    ? 'Nothing had been signed; the new content replaced it.'
    : 'The signed attempts no longer count; the new content replaced them.'
}

/** A no-op must use an assigned nonce, because all later nonces wait for it (I5). */
function canceledPending(
  runtime: RelayerRuntime,
  { transaction, attempts }: TransactionWithAttempts,
  nextRunAt: Date,
): Transaction {
  if (transaction.nonce !== undefined && !isExternallySigned(runtime, transaction)) {
    return {
      ...transaction,
      purpose: 'cancel',
      statusReason: noopReason('canceled'),
      nextRunAt,
    }
  }
  const status = nextStatus(transaction.status, 'canceled')
  return {
    ...transaction,
    ...ENDED_UNSIGNED,
    status,
    statusReason:
      attempts.length === 0
        ? 'Canceled by the caller before anything was signed.'
        : 'Canceled by the caller; the chain proved that no signed version was included.',
  }
}
