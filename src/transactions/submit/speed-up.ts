import type { Attempt, Prepared } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { broadcastCurrent, currentAttempt } from '../broadcast/broadcast.ts'
import { contentKind, isNoop } from '../model/attempts.ts'
import { isPriceNamed, levelOf, speedUpAfterMs } from '../model/due.ts'
import { accountOf, type LeasedAccount, type TransactionsContext } from '../model/runtime.ts'
import { noopReason, waitingReason, withoutWaiting } from '../model/status-reasons.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { findHead, findHeadSince } from '../store/queue-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { isAbandoned } from '../watch/stuck.ts'
import {
  noNewBlock,
  planRaise,
  prepareRaise,
  type RaisePlan,
  type RaiseWait,
  storeRaise,
} from './raise-fee.ts'
import { type Signable, sameBytes, signAttempt, storeSigned } from './sign.ts'

/**
 * Handles the first transaction of the account's queue, because no later nonce can be included before it. A
 * no-op cancels it when its `valid_until` has passed, and its fee is raised when it has waited for the delay
 * of its speed and the chain shows a reason (`decideRaise`). Explicit prices of the caller stay. Chains where
 * bytes expire need none of this. `due` holds the transactions to process now. Returns true if any of them
 * may have changed.
 */
export async function raiseOverdue(
  context: TransactionsContext,
  leased: LeasedAccount,
  due: readonly Transaction[],
): Promise<boolean> {
  const { chain } = leased.runtime
  if (chain.expiry) return false
  const overdue = due.filter((transaction) => isExpired(chain, transaction, context.clock.now()))
  const first = await findHead(context.db, leased.relayer.id)
  const head = due.find((transaction) => transaction.id === first?.id)
  const candidates = head === undefined || overdue.includes(head) ? overdue : [head, ...overdue]
  if (candidates.length === 0) return false
  const attempts = await findAttempts(context.db, candidates)
  for (const transaction of candidates) {
    const item = { transaction, attempts: attempts.get(transaction.id) ?? [] }
    if (overdue.includes(transaction)) await cancelExpired(context, leased, item)
    else if (isAbandoned(transaction, context.clock.now())) await abandon(context, leased, item)
    else if (await hasWaited(context, leased, item)) await raiseHead(context, leased, item)
  }
  return true
}

/**
 * Includes transactions that no node accepted yet: their bytes may have left, and a later broadcast would be
 * too late.
 */
function isExpired(chain: Chain, { request, purpose }: Transaction, now: number): boolean {
  const end = purpose === 'request' ? chain.endsAt(request) : undefined
  return end !== undefined && end.getTime() <= now
}

/**
 * The delay starts when a node accepts the newest attempt, or at its signature if no node accepted it, but
 * not before the transaction is the first of its queue.
 */
async function hasWaited(
  { db, clock }: TransactionsContext,
  { runtime: { chain } }: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<boolean> {
  const { transaction, attempts } = item
  const newest = attempts.findLast((attempt) => attempt.broadcastAt !== undefined) ?? currentAttempt(item)
  const speedUpDelay = speedUpAfterMs(chain, transaction)
  if (newest === undefined || speedUpDelay === undefined) return false
  const isEarly = (since: Date) => clock.now() - since.getTime() < speedUpDelay
  if (isEarly(newest.broadcastAt ?? newest.signedAt)) return false
  const headSince = await findHeadSince(db, transaction)
  return headSince === undefined || !isEarly(headSince)
}

/**
 * The wanted content can differ from the current attempt: if a node refused the no-op of a cancellation, the
 * no-op is signed again instead of raising the old attempt.
 */
async function raiseHead(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  if (lacksNoop(item)) return putWantedNoop(context, leased, item)
  return follow(context, leased, { item, plan: await planRaise(context, leased, item) })
}

/** A node refused the no-op for the transaction, so an attempt with the earlier content counts. */
function lacksNoop({
  transaction: { purpose, currentAttempt: current },
  attempts,
}: TransactionWithAttempts): boolean {
  return isNoop(purpose) && contentKind(attempts, current) !== purpose
}

function putWantedNoop(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { purpose } = item.transaction
  if (!isNoop(purpose)) return Promise.resolve()
  const obstacle = waitingReason(item.transaction, 'the no-op cannot use its nonce now')
  return putNoop(context, leased, { item, change: {}, kind: purpose, obstacle })
}

/**
 * Signs bytes with a higher fee for a transaction that all nodes keep queued: other bytes with its nonce take
 * its place in their pools. Bytes that were raised before wait for the delay of their speed, so a node whose
 * pending count ignores its pool raises no fee twice. The limits of a raise hold, and a price of the caller
 * stays.
 */
export async function unblock(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { relayer, runtime } = leased
  const current = currentAttempt(item)
  if (current === undefined || current.kind === 'speed_up') return
  const price = await runtime.chain.comparePrice(current.draft, levelOf(item.transaction), accountOf(relayer))
  const { bid, baseFee = 0n, newest } = price.kind === 'ok' ? price.value : { bid: 0n }
  // A pool also queues what no block can include at its price: the delay of its speed raises that fee.
  if (bid < baseFee || newest?.isNew === false) return
  context.log.warn(
    { transaction: item.transaction.id, relayer: relayer.id },
    'transaction queued by every node although its nonce is next',
  )
  if (isPriceNamed(item.transaction)) return explain(context, item.transaction, QUEUED_AT_NAMED_PRICE)
  if (lacksNoop(item)) return putWantedNoop(context, leased, item)
  const plan = await prepareRaise(context, leased, { item, seenBlock: newest?.number })
  return follow(context, leased, { item, plan })
}

const QUEUED_AT_NAMED_PRICE =
  'Every node knows it and none includes it, although its nonce is next. The caller set its price, so it is not changed: replace it at a higher price, so that new bytes take its place.'

/** Signs, stores and broadcasts a planned raise, or stores the reason why there is none. */
async function follow(
  context: TransactionsContext,
  leased: LeasedAccount,
  { item, plan }: { readonly item: TransactionWithAttempts; readonly plan: RaisePlan },
): Promise<void> {
  if (plan.kind === 'wait') return wait(context, item.transaction, plan)
  const statusReason = withoutWaiting(item.transaction.statusReason)
  const signable = {
    attempts: item.attempts,
    transaction: { ...item.transaction, statusReason },
    draft: plan.prepared.draft,
    kind: 'speed_up',
  } as const
  const attempt = await signUnlessKnown(context, leased, signable)
  if (attempt === undefined) return
  const signed = { ...signable, attempt }
  const stored = await storeRaise(context, leased, { signed, balance: plan.balance })
  if (stored === undefined) return
  if ('kind' in stored) return wait(context, item.transaction, stored)
  await broadcastCurrent(context, leased.runtime, [stored])
}

/** If the record already says why it waits, such as a node's refusal, no other reason replaces it. */
async function wait(
  context: TransactionsContext,
  transaction: Transaction,
  { detail }: RaiseWait,
): Promise<void> {
  if (detail !== undefined) await explain(context, transaction, waitingReason(transaction, detail))
}

function cancelExpired(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  return putNoop(context, leased, {
    item,
    change: { purpose: 'expire', statusReason: noopReason('expired') },
    kind: 'expire',
    obstacle: 'valid_until passed; it cannot be cancelled now',
  })
}

/**
 * Blocks must have left it out: while the chain is halted, the transaction is not what blocks its account.
 */
async function abandon(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { relayer, runtime } = leased
  const current = currentAttempt(item)
  const price =
    current &&
    (await runtime.chain.comparePrice(current.draft, levelOf(item.transaction), accountOf(relayer)))
  const newest = price?.kind === 'ok' ? price.value.newest : undefined
  if (newest?.isNew === false)
    return explain(context, item.transaction, waitingReason(item.transaction, noNewBlock(newest)))
  return putNoop(context, leased, {
    item,
    change: { purpose: 'abandon', statusReason: noopReason('blocking') },
    kind: 'abandon',
    obstacle: 'It blocks the account; a no-op cannot use its nonce now',
  })
}

interface NoopPlacement extends Omit<Placement, 'prepared'> {
  /** The explanation when the no-op has no price or is refused. */
  readonly obstacle: string
}

/**
 * Puts a no-op in the place of the transaction, at the market's price or at 110 % of the highest attempt that
 * a pool may hold, which nodes demand. The limit of raises does not count here: a no-op that could not take
 * the nonce would leave the account blocked. It is signed once for its reason, its own raises keep the limit,
 * and what it can cost at most is a tenth above what the account would pay for that attempt.
 */
async function putNoop(
  context: TransactionsContext,
  leased: LeasedAccount,
  { item, change, kind, obstacle }: NoopPlacement,
): Promise<void> {
  const { relayer, runtime } = leased
  const account = accountOf(relayer)
  const answer = await runtime.chain.replace(runtime.chain.noop(account), item.attempts, account)
  if (answer.kind === 'ok')
    return replaceContent(context, leased, { item, change, prepared: answer.value, kind })
  const detail = answer.kind === 'refused' ? answer.refusal.detail : answer.detail
  return explain(context, item.transaction, `${obstacle}: ${detail}`)
}

interface Placement {
  readonly item: TransactionWithAttempts
  /** The fields that change with the new attempt. */
  readonly change: Pick<Partial<Transaction>, 'purpose' | 'statusReason'>
  readonly prepared: Prepared
  readonly kind: Attempt['kind']
}

async function replaceContent(
  context: TransactionsContext,
  leased: LeasedAccount,
  placement: Placement,
): Promise<void> {
  const { runtime, lease } = leased
  const { item, change, prepared, kind } = placement
  const statusReason = withoutWaiting(item.transaction.statusReason)
  const signable = {
    attempts: item.attempts,
    transaction: { ...item.transaction, statusReason, ...change },
    draft: prepared.draft,
    kind,
  }
  const attempt = await signUnlessKnown(context, leased, signable)
  if (attempt === undefined) return
  const stored = await storeSigned(context, { runtime, signed: [{ ...signable, attempt }], lease })
  await broadcastCurrent(context, runtime, stored)
}

/** Signs an attempt; undefined if its bytes are those of an earlier one, with the reason in the record. */
async function signUnlessKnown(
  context: TransactionsContext,
  { runtime }: LeasedAccount,
  signable: Signable,
): Promise<Attempt | undefined> {
  const attempt = await signAttempt(context, runtime, signable)
  const known = sameBytes(signable.attempts, attempt)
  if (known === undefined) return attempt
  const refusal = known.error ?? `the outcome was "${known.outcome}"`
  const detail = `the same bytes were broadcast before: ${refusal}.`
  await explain(context, signable.transaction, waitingReason(signable.transaction, detail))
  return undefined
}

/**
 * Stores a reason. The transaction stays due, so that its bytes are broadcast again: a mempool may have lost
 * them.
 */
async function explain(
  context: TransactionsContext,
  transaction: Transaction,
  statusReason: string,
): Promise<void> {
  if (transaction.statusReason === statusReason) return
  await saveInOwnTransaction(context, [{ ...transaction, statusReason }])
}
