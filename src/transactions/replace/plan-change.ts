import type { Answer } from '../../chains/answer.ts'
import type { AfterExpiry, AttemptKind, Draft, Prepared, SetupRequired } from '../../chains/attempt.ts'
import { AppError } from '../../errors.ts'
import { larger } from '../../lib/bigint.ts'
import { prepareContent } from '../accept/checks.ts'
import { refusedBy } from '../accept/evaluate.ts'
import { isLimited } from '../budgets/charge.ts'
import { attemptsAtNonce, unprovenAttempts } from '../model/attempts.ts'
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
import { withWish } from '../watch/undecided.ts'
import type { Change, NonceChange } from './replacement.ts'

/** A plan says what a change makes of a transaction. Nothing of it is stored yet. */
export interface ChangePlan {
  /** The record after the change, before anything is signed. */
  readonly transaction: Transaction
  /** The content as it would be signed now; absent if no node returned its price, or it waits. */
  readonly draft?: Draft | undefined
  /** A further attempt is signed with the draft now; absent if only the record changes. */
  readonly attempt?: { readonly draft: Draft; readonly kind: AttemptKind }
  /** The most that the new content can take from the account; 0 for a cancellation. */
  readonly cost: bigint
  /** The account must be able to pay the cost now. */
  readonly needsFunds: boolean
  /** No signed version counts. A worker may note why the transaction waits while its change is planned. */
  readonly isUnsigned?: true
  /** The nonces that the record takes and frees. */
  readonly nonces: NonceChange
  /** Sentences for the caller. */
  readonly logs: readonly string[]
}

/** The answer of the chain about a change. */
interface Planned {
  /** The reason to refuse it; undefined if the chain has none. */
  readonly refusal?: AppError | undefined
  /** Absent if the content could not be prepared. */
  readonly plan?: ChangePlan
  readonly simulation: 'succeeded' | 'refused' | 'unknown'
}

/**
 * Plans a change that its rules allow: prepares new content for the nonce and the attempts that the
 * transaction has.
 */
export function planChange(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Planned> {
  if (item.transaction.undecidedSince !== undefined) return planUndecided(context, change, item)
  return mustReplaceSigned(context, change, item)
    ? planSigned(context, change, item)
    : planPending(context, change, item)
}

/**
 * Nothing is signed for an undecided transaction: the chain may have executed it already, and its nonce is
 * used. The change waits for the decision, and takes effect if nothing was included.
 */
async function planUndecided(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Planned> {
  const { relayer, request } = change
  const { chain } = context.runtimeOf(relayer)
  if (request === undefined)
    return planLater(context, change, item, { kind: 'after_expiry', detail: LATER.cancel })
  const trial = await chain.prepare(request, accountOf(relayer))
  if (trial.kind === 'refused') return unprepared(trial)
  const cost = trial.kind === 'ok' ? { cost: chain.cost(trial.value.draft) } : {}
  return planLater(context, change, item, { kind: 'after_expiry', detail: LATER.replace, ...cost })
}

const LATER = {
  cancel: 'It is unknown whether it was included; it ends as canceled when it is decided that it was not.',
  replace:
    'It is unknown whether the earlier version was included; the new one is sent when it is decided that it was not.',
} as const

/**
 * Content with another nonce does not exclude earlier bytes that a node may still have: a refusal of one node
 * is no proof.
 */
function mustReplaceSigned(
  context: TransactionsContext,
  { relayer, request }: Change,
  item: TransactionWithAttempts,
): boolean {
  const { transaction } = item
  if (transaction.status !== 'pending') return true
  if (request === undefined || unprovenAttempts(attemptsAtNonce(item)).length === 0) return false
  return !hasNonce(transaction, contentNonce(context.runtimeOf(relayer), transaction, request))
}

/** Plans a further attempt with the same nonce. */
async function planSigned(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Planned> {
  const { relayer, request } = change
  const { chain } = context.runtimeOf(relayer)
  const account = accountOf(relayer)
  const answer = await chain.replace(request ?? chain.noop(account), attemptsAtNonce(item), account)
  if (answer.kind === 'after_expiry') return planLater(context, change, item, answer)
  if (answer.kind !== 'ok') return unprepared(answer)
  const { draft, logs } = answer.value
  const { kind, ...record } = RECORDS[request ? 'replace' : 'cancel']
  const transaction = {
    ...item.transaction,
    ...record,
    request: request ?? item.transaction.request,
    isBudgeted: item.transaction.isBudgeted || isLimited(change) || undefined,
  }
  const cost = request ? chain.cost(draft) : 0n
  const attempt = { draft, kind }
  const plan = { transaction, draft, attempt, cost, needsFunds: request !== undefined, nonces: {}, logs }
  return { refusal: refusedBy(answer), plan, simulation: 'succeeded' }
}

const RECORDS: Readonly<
  Record<'replace' | 'cancel', { purpose: Purpose; kind: AttemptKind; statusReason: string | undefined }>
> = {
  replace: { purpose: 'request', kind: 'replace', statusReason: undefined },
  cancel: {
    purpose: 'cancel',
    kind: 'cancel',
    statusReason: noopReason('canceled'),
  },
}

/**
 * Both attempts could be included, so the new content waits for the proof that the earlier one is not
 * included (I2).
 */
function planLater(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
  { detail, cost = 0n }: AfterExpiry,
): Planned {
  const { relayer, request } = change
  const { transaction } = item
  const { externalSigning } = context.runtimeOf(relayer).chain
  const purpose = request ? 'successor' : 'cancel'
  const kept = {
    ...transaction,
    ...asSigned(item),
    request: request ?? transaction.request,
    purpose,
    statusReason: transaction.undecidedSince === undefined ? detail : withWish({ ...transaction, purpose }),
    cost: larger(transaction.cost, cost),
    isBudgeted: transaction.isBudgeted || (request && isLimited(change)) || undefined,
    nextRunAt: new Date(context.clock.now() + WATCHED_MS),
  } as const
  const nonces = { claimed: request && externalSigning?.nonceOf(request) }
  const plan = { transaction: kept, cost, needsFunds: cost > 0n, nonces, logs: [detail] }
  return { plan, simulation: 'succeeded' }
}

/**
 * The watcher follows the last attempt of a pending transaction again, because another node may have what one
 * has refused.
 */
function asSigned(item: TransactionWithAttempts): Pick<Transaction, 'status' | 'currentAttempt'> {
  const { status, currentAttempt } = item.transaction
  if (status !== 'pending') return { status, currentAttempt }
  const last = unprovenAttempts(attemptsAtNonce(item)).at(-1)
  return { status: nextStatus(status, 'signed'), currentAttempt: last?.number }
}

/** Plans new content for a transaction without a current attempt. The worker signs it later. */
async function planPending(
  context: TransactionsContext,
  change: Change,
  item: TransactionWithAttempts,
): Promise<Planned> {
  const { relayer, request } = change
  const { transaction } = item
  const now = context.clock.now()
  const nextRunAt = new Date(now)
  const runtime = context.runtimeOf(relayer)
  if (request === undefined) {
    const canceled = canceledPending(runtime, item, nextRunAt)
    return {
      plan: { transaction: canceled, cost: 0n, needsFunds: false, isUnsigned: true, nonces: {}, logs: [] },
      simulation: 'succeeded',
    }
  }
  const { chain } = runtime
  const prepared = await prepareContent({ relayer, request, chain, now })
  if (prepared.kind === 'refused') return unprepared(prepared)
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
  const plan = {
    transaction: next,
    draft: known?.draft,
    cost,
    needsFunds: !isScheduled(next, now) && next.awaitsPrice !== true,
    isUnsigned: true as const,
    nonces: nonceChange(runtime, transaction, next),
    logs: known?.logs ?? [],
  }
  return {
    refusal: refusedBy(prepared),
    plan,
    simulation: prepared.kind === 'unknown' ? 'unknown' : 'succeeded',
  }
}

function nonceChange(runtime: RelayerRuntime, before: Transaction, next: Transaction): NonceChange {
  if (hasNonce(before, { sourceAccount: next.sourceAccount, nonce: next.nonce })) return {}
  return {
    claimed: runtime.chain.externalSigning?.nonceOf(next.request),
    freed: isExternallySigned(runtime, before) ? undefined : before.sourceAccount,
  }
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

/** Returns the refusal of content that was not prepared. */
function unprepared(answer: Exclude<Answer<Prepared>, { kind: 'ok' }> | SetupRequired): Planned {
  if (answer.kind === 'refused') return { refusal: refusedBy(answer), simulation: 'refused' }
  if (answer.kind === 'setup') {
    const detail = `${answer.detail} Cancel this transaction and send the new content.`
    return { refusal: new AppError('not_supported', detail), simulation: 'refused' }
  }
  const detail = 'No node of the network answers, so nothing was changed. Try again.'
  const refusal = new AppError('network_unavailable', detail, { cause: answer.detail })
  return { refusal, simulation: 'unknown' }
}
