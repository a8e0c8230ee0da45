import type { PriceComparison } from '../../chains/answer.ts'
import type { Draft, Prepared } from '../../chains/attempt.ts'
import { FAMILIES } from '../../chains/families.ts'
import { assertFence } from '../../database/lease.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import { ordersByTip } from '../../networks/network.ts'
import { shortOfFunds } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { currentAttempt } from '../broadcast/broadcast.ts'
import { routeOf } from '../broadcast/route.ts'
import { findRaiseRefusal } from '../budgets/charge-signed.ts'
import { openAttempts, reservation } from '../model/attempts.ts'
import { levelOf } from '../model/due.ts'
import { traceStep } from '../model/observer.ts'
import {
  accountOf,
  type LeasedAccount,
  type RelayerRuntime,
  type TransactionsContext,
} from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { reservedBy } from '../store/due-store.ts'
import { lockAccount } from '../store/nonce-store.ts'
import { type SignedItem, storeSignedIn } from './sign.ts'

/** Whose fee may be raised. */
interface RaisingAccount {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
}

/** The reasons for which a fee is not raised; `detail` continues a sentence about the wait. */
export interface RaiseWait {
  readonly kind: 'wait'
  /**
   * `not_next`: an earlier nonce comes first · `refused`: a policy or the market does not allow it · `unknown`: no node answers · `funds`: the
   * account cannot pay more · `budget`: a budget does not allow more.
   */
  readonly code: WaitCode | 'not_next' | 'refused' | 'unknown' | 'funds' | 'budget'
  readonly detail?: string | undefined
}

/**
 * The content of the next attempt, with the balance of the account when it was compared; undefined without an
 * answer of the nodes.
 */
interface PlannedRaise {
  readonly kind: 'raise'
  readonly prepared: Prepared
  readonly balance: bigint | undefined
}

/** The next attempt of a transaction with a higher fee, or the reason why there is none. */
export type RaisePlan = PlannedRaise | RaiseWait

/**
 * Decides whether the fee of the head of a queue is raised, and prepares the next attempt: the chain must
 * show a reason, the policies must allow the price, and the account and the budgets must cover it. It changes
 * nothing, so a diagnosis can use it as well.
 */
export async function planRaise(
  context: TransactionsContext,
  account: RaisingAccount,
  item: TransactionWithAttempts,
): Promise<RaisePlan> {
  const { relayer, runtime } = account
  const { chain, network } = runtime
  const { transaction, attempts } = item
  const accepted = attempts.findLast((attempt) => attempt.broadcastAt !== undefined)
  const newest = accepted ?? currentAttempt(item)
  if (newest === undefined || chain.feeBump === undefined) return { kind: 'wait', code: 'price_is_right' }
  const { pricedLast } = FAMILIES[newest.draft.type].content
  const draft = pricedLast?.(newest.draft, attempts) ?? newest.draft
  const price = await chain.comparePrice(draft, levelOf(transaction), accountOf(relayer))
  if (price.kind !== 'ok') return { kind: 'wait', code: 'unknown' }
  const decision = decideRaise({
    price: price.value,
    isAccepted: accepted !== undefined && transaction.status === 'submitted',
    isRaised: attempts.some(({ kind }) => kind === 'speed_up'),
    isOnlyPrivate: routeOf(transaction) === 'private',
    ordersByTip: ordersByTip(network),
  })
  if (decision.kind === 'wait') return decision
  if (!(await isNext(runtime, item))) return { kind: 'wait', code: 'not_next' }
  return prepareRaise(context, account, { item, seenBlock: price.value.newest?.number })
}

/** If no block can include it yet, no block left it out. Without a reply the chain has shown nothing. */
async function isNext(
  { chain }: RelayerRuntime,
  { transaction: { nonce, sourceAccount, from } }: TransactionWithAttempts,
): Promise<boolean> {
  const [next] = (await chain.sequencing?.nonces([sourceAccount ?? from])) ?? []
  return next?.kind === 'ok' && next.value === nonce
}

/** Prepares a raise for which there is a reason, as far as policies, funds and budgets allow one. */
export async function prepareRaise(
  context: TransactionsContext,
  { relayer, runtime }: RaisingAccount,
  { item, seenBlock }: { readonly item: TransactionWithAttempts; readonly seenBlock?: bigint | undefined },
): Promise<RaisePlan> {
  const { chain } = runtime
  const current = currentAttempt(item)
  // Later attempts were refused by a node, so the current one must be the last in the list.
  const attempts = [...item.attempts.filter((attempt) => attempt !== current), ...(current ? [current] : [])]
  const raise = { level: levelOf(item.transaction), account: accountOf(relayer), seenBlock }
  const answer = await chain.feeBump?.speedUp(attempts, raise)
  if (answer === undefined) return { kind: 'wait', code: 'price_is_right' }
  if (answer.kind === 'unknown') return { kind: 'wait', code: 'unknown', detail: notRaised(answer.detail) }
  if (answer.kind === 'refused')
    return { kind: 'wait', code: 'refused', detail: notRaised(answer.refusal.detail) }
  const now = new Date(context.clock.now())
  const { transaction } = item
  const { draft } = answer.value
  const [balance, reserved, refusal] = await Promise.all([
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now, except: transaction.id }),
    findRaiseRefusal(context.db, { chain, relayer, now }, { transaction, attempts, draft }),
  ])
  const known = balance.kind === 'ok' ? balance.value : undefined
  const cost = costOfRaise(runtime, item, draft)
  const short = shortage({ relayer, runtime }, { balance: known, reserved, cost })
  if (short !== undefined) return short
  if (refusal !== undefined) return { kind: 'wait', code: 'budget', detail: notRaised(refusal) }
  return { kind: 'raise', prepared: answer.value, balance: known }
}

function notRaised(detail: string): string {
  return `the fee is not raised: ${detail}`
}

/**
 * The most that the transaction can take from the account with the raise: any of its open attempts can be
 * included.
 */
function costOfRaise({ chain }: RelayerRuntime, { attempts }: TransactionWithAttempts, draft: Draft): bigint {
  return reservation([draft, ...openAttempts(attempts).map((attempt) => attempt.draft)], chain.cost)
}

interface Funds {
  /** Without a reply of the nodes there is no refusal: they decide at the broadcast (I6). */
  readonly balance: bigint | undefined
  readonly reserved: bigint
  readonly cost: bigint
}

function shortage(
  { relayer, runtime: { chain } }: RaisingAccount,
  { balance, ...funds }: Funds,
): RaiseWait | undefined {
  if (balance === undefined) return undefined
  const short = shortOfFunds(relayer, { unit: chain.unit, balance, ...funds })
  return short && { kind: 'wait', code: 'funds', detail: notRaised(short.detail) }
}

/**
 * Stores a signed raise, and reserves in the same commit what it can cost more. Both are checked again under
 * the locks of the account and of the budgets, because a request may have been accepted in the meantime: a
 * raise never takes what is reserved for others. Then nothing is stored, so the bytes never leave the
 * process.
 */
export async function storeRaise(
  context: TransactionsContext,
  { relayer, runtime, lease }: LeasedAccount,
  { signed, balance }: { readonly signed: SignedItem; readonly balance: bigint | undefined },
): Promise<TransactionWithAttempts | RaiseWait | undefined> {
  const { db, clock } = context
  const now = new Date(clock.now())
  const { transaction, draft } = signed
  const step = { name: 'store', transactions: [transaction] } as const
  try {
    return await traceStep(context, step, () =>
      transact(db, async (tx) => {
        await assertFence(tx, lease)
        await lockAccount(tx, relayer.id)
        const reserved = await reservedBy(tx, relayer.id, { now, except: transaction.id })
        const cost = costOfRaise(runtime, signed, draft)
        const short = shortage({ relayer, runtime }, { balance, reserved, cost })
        if (short !== undefined) return short
        const items = { runtime, signed: [signed], now, keepsRequest: true, raisedBy: relayer }
        const [stored] = await storeSignedIn(tx, items)
        return stored
      }),
    )
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rule_violated') throw error
    return { kind: 'wait', code: 'budget', detail: notRaised(error.detail) }
  }
}

/** A signed transaction that waits at the head of its queue, and what the chain shows about it. */
export interface RaiseCase {
  readonly price: PriceComparison
  /** A node has the newest attempt. */
  readonly isAccepted: boolean
  /** The newest attempt is a raise of the service already. */
  readonly isRaised: boolean
  /** Only private endpoints have it. */
  readonly isOnlyPrivate: boolean
  /**
   * Higher tips are included first. Otherwise a sequencer takes what pays its base fee in the order of
   * arrival.
   */
  readonly ordersByTip: boolean
}

/** The reasons for which the fee stays as it is although the transaction waits. */
type WaitCode = 'no_new_block' | 'builders_choice' | 'price_is_right'

/**
 * `detail` continues a sentence about the wait; absent if the record already says why it waits, or there is
 * nothing to say.
 */
type RaiseDecision =
  | { readonly kind: 'raise' }
  | { readonly kind: 'wait'; readonly code: WaitCode; readonly detail?: string }

const RAISE: RaiseDecision = { kind: 'raise' }
const PRICE_IS_RIGHT: RaiseDecision = { kind: 'wait', code: 'price_is_right' }

/**
 * Decides whether the chain shows a reason to pay more (I13). The bid is below the base fee of the next
 * block; or a new block came since it was priced, could have had the transaction, and left it out. Time alone
 * is not a reason: a halted chain, or a node with a halted head, leaves out everything at any price. Pure.
 */
export function decideRaise(waiting: RaiseCase): RaiseDecision {
  const { price, isRaised } = waiting
  const { bid, baseFee, newest } = price
  const isBelowBaseFee = baseFee !== undefined && bid < baseFee
  if (newest === undefined) return isBelowBaseFee && !isRaised ? RAISE : PRICE_IS_RIGHT
  if (!newest.isNew && (isRaised || !isBelowBaseFee))
    return { kind: 'wait', code: 'no_new_block', detail: noNewBlock(newest) }
  return isBelowBaseFee ? RAISE : decideAboveBaseFee(waiting)
}

function decideAboveBaseFee({ price, isAccepted, isOnlyPrivate, ordersByTip }: RaiseCase): RaiseDecision {
  const { bid, market, newest } = price
  // It may wait for another reason than its price: no pool of the network has it.
  if (!isAccepted) return ordersByTip && bid < market ? RAISE : PRICE_IS_RIGHT
  if (isOnlyPrivate) return bid < market ? RAISE : BUILDERS_CHOICE
  const { leftOut } = newest ?? {}
  return ordersByTip && (leftOut === 'outbid' || leftOut === 'room') ? RAISE : PRICE_IS_RIGHT
}

/**
 * A builder leaves a private transaction out for its own reasons, such as a current revert, and more money
 * does not change them.
 */
const BUILDERS_CHOICE: RaiseDecision = {
  kind: 'wait',
  code: 'builders_choice',
  detail:
    'only private endpoints have it, and it offers the market price, so their builders decide and its fee is not raised.',
}

/** Says since when there was no block, by the time that the newest block states. */
export function noNewBlock({ number, time }: NonNullable<PriceComparison['newest']>): string {
  const since = time === undefined ? '' : ` of ${time.toISOString()}`
  return `no new block since block ${number}${since}, so its fee is not raised.`
}
