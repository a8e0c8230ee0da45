import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Prepared } from '../../chains/prepared.ts'
import { ordersByTip } from '../../networks/network.ts'
import { contentKind, isNoop } from '../model/purpose.ts'
import { accountOf, type LeasedAccount, type TransactionsContext } from '../model/runtime.ts'
import { isPriceNamed, levelOf, speedUpAfterMs } from '../model/speed-up-delay.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { findHead, findHeadSince } from '../store/queue-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { sameBytes, signAttempt, storeSigned } from '../submit/sign.ts'
import { ABANDONED, isAbandoned } from '../watch/stuck.ts'
import { broadcastCurrent, currentAttempt } from './broadcast.ts'

/**
 * Handles the first transaction of the account's queue, because no later nonce can be included before it. A no-op cancels it when its
 * `valid_until` has passed, and its fee is raised after the delay of its speed. Explicit prices of the caller stay. Chains where bytes expire
 * need none of this. `due` holds the transactions to process now. Returns true if any of them may have changed.
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
    else if (await isStuck(context, leased, item)) await raiseHead(context, leased, item)
  }
  return true
}

/** Includes transactions that no node accepted yet: their bytes may have left, and a later broadcast would be too late. */
function isExpired(chain: Chain, { request, purpose }: Transaction, now: number): boolean {
  const end = purpose === 'request' ? chain.endsAt(request) : undefined
  return end !== undefined && end.getTime() <= now
}

/**
 * The delay starts when a node accepts the newest attempt, or at its signature if no node accepted it, but not before the transaction is the
 * first of its queue. An attempt that is in no mempool may wait for another reason than its price, so its fee is raised only if it is below
 * the market.
 */
async function isStuck(
  { db, clock }: TransactionsContext,
  { runtime: { chain, network } }: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<boolean> {
  const { transaction, attempts } = item
  const accepted = attempts.findLast((attempt) => attempt.broadcastAt !== undefined)
  const newest = accepted ?? currentAttempt(item)
  const speedUpDelay = speedUpAfterMs(chain, transaction)
  if (newest === undefined || speedUpDelay === undefined) return false
  const isEarly = (since: Date) => clock.now() - since.getTime() < speedUpDelay
  if (isEarly(newest.broadcastAt ?? newest.signedAt)) return false
  const headSince = await findHeadSince(db, transaction)
  if (headSince !== undefined && isEarly(headSince)) return false
  const isAccepted = accepted !== undefined && transaction.status === 'submitted'
  if (isAccepted && ordersByTip(network)) return true
  const price = await chain.comparePrice(newest.draft, levelOf(transaction))
  if (price.kind !== 'ok') return false
  const { bid, market, baseFee = 0n } = price.value
  return bid < (isAccepted || !ordersByTip(network) ? baseFee : market)
}

/**
 * The wanted content can differ from the current attempt: if a node refused the no-op of a cancellation, the no-op is signed again instead
 * of raising the old attempt.
 */
async function raiseHead(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { transaction, attempts } = item
  const { purpose } = transaction
  if (!isNoop(purpose) || contentKind(attempts, transaction.currentAttempt) === purpose)
    return raiseFee(context, leased, item)
  return putNoop(context, leased, {
    item,
    change: {},
    kind: purpose,
    obstacle: 'Waiting for inclusion; the no-op cannot take its nonce now',
  })
}

/** A pool also queues what no block can include at its price: the delay of its speed raises that fee. */
async function isBelowBaseFee(chain: Chain, item: TransactionWithAttempts): Promise<boolean> {
  const current = currentAttempt(item)
  if (current === undefined) return false
  const price = await chain.comparePrice(current.draft, levelOf(item.transaction))
  return price.kind === 'ok' && price.value.bid < (price.value.baseFee ?? 0n)
}

/**
 * Signs bytes with a higher fee for a transaction that all nodes keep queued: other bytes with its nonce take its place in their
 * pools. Bytes that were raised before wait for the delay of their speed, so a node whose pending count ignores its pool raises no fee
 * twice. A price of the caller stays.
 */
export async function unblock(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  if (currentAttempt(item)?.kind === 'speed_up' || (await isBelowBaseFee(leased.runtime.chain, item))) return
  context.log.warn(
    { transaction: item.transaction.id, relayer: leased.relayer.id },
    'transaction queued by every node although its nonce is next',
  )
  if (!isPriceNamed(item.transaction)) return raiseHead(context, leased, item)
  await explain(
    context,
    item.transaction,
    'Every node knows it and none includes it, although its nonce is next. Its price was named by the caller and is not changed: replace it at a higher price, so that other bytes take its place.',
  )
}

async function raiseFee(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { relayer, runtime } = leased
  const { transaction } = item
  const current = currentAttempt(item)
  // Later attempts were refused by a node, so the current one must be the last in the list.
  const attempts = [...item.attempts.filter((attempt) => attempt !== current), ...(current ? [current] : [])]
  const { feeBump } = runtime.chain
  if (feeBump === undefined) return
  const answer = await feeBump.speedUp(attempts, levelOf(transaction), accountOf(relayer))
  if (answer.kind === 'ok') {
    return replaceContent(context, leased, { item, change: {}, prepared: answer.value, kind: 'speed_up' })
  }
  const detail = answer.kind === 'refused' ? answer.refusal.detail : answer.detail
  await explain(context, transaction, `Waiting for inclusion; the fee cannot be raised: ${detail}`)
}

function cancelExpired(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  return putNoop(context, leased, {
    item,
    change: { purpose: 'expire', statusReason: 'valid_until passed; a no-op is to take its nonce.' },
    kind: 'expire',
    obstacle: 'valid_until passed; it cannot be cancelled now',
  })
}

function abandon(
  context: TransactionsContext,
  leased: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  return putNoop(context, leased, {
    item,
    change: { purpose: 'abandon', statusReason: ABANDONED },
    kind: 'abandon',
    obstacle: 'It blocks the account; a no-op cannot take its nonce now',
  })
}

interface NoopPlacement extends Omit<Placement, 'prepared'> {
  /** The explanation when the no-op has no price or is refused. */
  readonly obstacle: string
}

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
  const signable = {
    attempts: item.attempts,
    transaction: { ...item.transaction, ...change },
    draft: prepared.draft,
    kind,
  }
  const attempt = await signAttempt(context, runtime, signable)
  const known = sameBytes(item.attempts, attempt)
  if (known) {
    const refusal = known.error ?? `the outcome was "${known.outcome}"`
    return explain(
      context,
      item.transaction,
      `Waiting for inclusion; the same bytes were broadcast before: ${refusal}.`,
    )
  }
  const stored = await storeSigned(context, { runtime, signed: [{ ...signable, attempt }], lease })
  await broadcastCurrent(context, runtime, stored)
}

/** Stores a reason. The transaction stays due, so that its bytes are broadcast again: a mempool may have lost them. */
async function explain(
  context: TransactionsContext,
  transaction: Transaction,
  statusReason: string,
): Promise<void> {
  if (transaction.statusReason === statusReason) return
  await saveInOwnTransaction(context, [{ ...transaction, statusReason }])
}
