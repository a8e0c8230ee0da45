import { isDeepStrictEqual } from 'node:util'
import { SERVICE } from '../../audit/entry.ts'
import type { AccountFunds } from '../../chains/capabilities.ts'
import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { larger, smaller } from '../../lib/bigint.ts'
import { omitUndefined } from '../../lib/object.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import type { Relayer, TopUp } from '../../relayers/relayer.ts'
import { lockInOrder, lockRelayer } from '../../relayers/store.ts'
import { admitCandidates } from '../accept/admit.ts'
import { checkSubmission, evaluate, refusalOf } from '../accept/evaluate.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import {
  type Filled,
  readTopUpState,
  readTopUps,
  type StoredTopUpState,
  saveTopUpState,
  type TopUpHistory,
  toHistory,
  waitAfter,
} from './top-up-store.ts'

/** The settings of top-ups. */
export interface TopUpOptions {
  /** Time in ms between two checks of a relayer; the wait after a failure doubles from it. */
  readonly intervalMs: number
}

/**
 * The most calls that read the balances of relayers on one chain in a round. The others follow in the next
 * rounds, in turns.
 */
const BALANCE_CALLS = 8

/**
 * Leaves out the relayers that still have enough, as far as one round asks: the balances of many take few
 * calls, and what no one uses costs no more.
 */
export async function withoutRich(
  context: TransactionsContext,
  filled: readonly Filled[],
  round: number,
): Promise<string[]> {
  const resting = await Promise.all(
    filled.flatMap(({ id, hadEnough }) => (hadEnough ? [findRule(context, id)] : [])),
  )
  const known = resting.filter((rule) => rule !== undefined)
  const rich = await Promise.all(
    [...Map.groupBy(known, ({ chain }) => chain)].map(async ([chain, rules]) => {
      const most = BALANCE_CALLS * chain.balancesPerCall()
      const turns = Math.ceil(rules.length / most)
      const asked = rules.filter((_, index) => index % turns === round % turns)
      const balances = await chain.balances(asked.map(({ address }) => address))
      const poor = asked.filter(({ below }, index) => {
        const balance = balances[index]
        return balance?.kind === 'ok' && balance.value < below
      })
      return rules.filter((rule) => !poor.includes(rule)).map(({ id }) => id)
    }),
  )
  const left = new Set(rich.flat())
  return filled.flatMap(({ id }) => (left.has(id) ? [] : [id]))
}

/** The amount below which a relayer is filled, and the chain on which its treasury sees its balance. */
interface FillRule {
  readonly id: string
  readonly address: string
  readonly below: bigint
  readonly chain: Chain
}

async function findRule(context: TransactionsContext, id: string): Promise<FillRule | undefined> {
  const relayer = await context.relayerOf(id)
  const { topUp } = relayer?.policies ?? {}
  const treasury = topUp && (await context.relayerOf(topUp.from))
  if (relayer === undefined || topUp === undefined || treasury === undefined) return undefined
  const { address } = relayer
  return { id, address, below: topUp.below, chain: context.runtimeOf(treasury).chain }
}

/** Fills a relayer from its treasury where that is due, and stores what it decided. */
export async function topUpRelayer(
  context: TransactionsContext,
  relayerId: string,
  options: TopUpOptions,
): Promise<void> {
  const { db, clock, log } = context
  const relayer = await context.relayerOf(relayerId)
  if (relayer === undefined || relayer.paused || relayer.draining === true) return
  // It only refills its further accounts.
  if (relayer.policies.topUp?.from === relayer.id) return
  const before = await readTopUpState(db, relayerId)
  if (before?.retryAt !== undefined && clock.now() < before.retryAt.getTime()) return
  const next = await decideAndPay(context, relayer, options).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
    return error === CHANGED ? undefined : refusal(context, { relayer, before, error, ...options })
  })
  if (next === undefined || isDeepStrictEqual(next, before)) return
  await saveTopUpState(db, relayerId, next)
  if (next.state === 'limit_reached' && before?.state !== 'limit_reached')
    log.warn({ relayer: relayerId }, 'top-up not possible: max_per_day is used up')
}

/**
 * Returns the state of the relayer afterwards; undefined if no node returns its balance, so that nothing is
 * known.
 */
async function decideAndPay(
  context: TransactionsContext,
  relayer: Relayer,
  { intervalMs }: TopUpOptions,
): Promise<StoredTopUpState | undefined> {
  const { clock, log } = context
  const { topUp } = relayer.policies
  if (topUp === undefined) return undefined
  const treasury = await requireTreasury(context, relayer)
  const { chain } = context.runtimeOf(treasury)
  const transactions = await readTopUps(context.db, relayer, clock.now())
  const history = toHistory(transactions, ({ request }) => chain.amountOut(request), clock.now())
  if (history.open !== undefined) return { state: 'pending', transactionId: history.open.id, failures: 0 }
  const waiting = waitAfterFailure(history, { now: clock.now(), intervalMs })
  if (waiting !== undefined) return waiting
  // The balance comes from the treasury's nodes: the relayer's may belong to someone who profits from a wrong
  // one. A node that has not reached the block of the last top-up would return a balance without it.
  const funds = await chain.funding.read(relayer.address, omitUndefined({ asOf: history.asOf }))
  if (funds.kind !== 'ok') return undefined
  const decision = decideTopUp(topUp, funds.value, history)
  if (decision.kind !== 'pay') return { state: decision.kind, failures: 0 }
  const payment = { to: relayer.address, amount: decision.amount, funds: funds.value }
  const request = chain.funding.pay(payment, accountOf(treasury))
  const { id } = await payTopUp(context, { treasury, relayer, request, history })
  log.info({ relayer: relayer.id, treasury: treasury.id, transaction: id }, 'top-up accepted')
  return { state: 'pending', transactionId: id, failures: 0 }
}

/**
 * Finds the treasury, as it is now.
 * @throws AppError if it cannot pay, or the relayer is disabled for another reason than its balance
 */
async function requireTreasury(context: TransactionsContext, relayer: Relayer): Promise<Relayer> {
  const isFillable = !relayer.systemDisabled || relayer.disabledReason?.type === 'BalanceCheckFailed'
  const refused = isFillable ? undefined : inactive(relayer)
  if (refused !== undefined) throw refused
  const from = relayer.policies.topUp?.from ?? ''
  const treasury = await context.relayerOf(from)
  if (treasury === undefined)
    throw new AppError('relayer_not_found', `There is no relayer ${from} that can act.`)
  if (treasury.network !== relayer.network || treasury.networkType !== relayer.networkType)
    throw new AppError('wrong_chain', `Relayer ${from} is on another network than ${relayer.id}.`)
  const inactivity = inactive(treasury)
  if (inactivity !== undefined) throw inactivity
  return treasury
}

/**
 * Returns the state of a relayer whose last payment did not succeed lately: each one can cost a fee and would
 * probably fail again.
 */
function waitAfterFailure(
  { newest, failures }: TopUpHistory,
  { now, intervalMs }: { readonly now: number; readonly intervalMs: number },
): StoredTopUpState | undefined {
  if (newest === undefined || failures === 0) return undefined
  const retryAt = new Date(newest.createdAt.getTime() + waitAfter(failures, Math.max(intervalMs, 60_000)))
  if (retryAt.getTime() <= now) return undefined
  return { state: 'waiting', transactionId: newest.id, retryAt, failures: 0 }
}

interface Refused extends TopUpOptions {
  readonly relayer: Relayer
  readonly before: StoredTopUpState | undefined
  readonly error: AppError
}

/** Returns the state after a refusal, and logs the first one in a row of the same kind. */
function refusal(
  { clock, log }: TransactionsContext,
  { relayer, before, error, intervalMs }: Refused,
): StoredTopUpState {
  const failures = (before?.failures ?? 0) + 1
  if (before?.state !== 'refused' || before.code !== error.code)
    log.warn({ relayer: relayer.id, code: error.code, detail: error.detail }, 'top-up refused')
  const retryAt = new Date(clock.now() + waitAfter(failures, intervalMs))
  return { state: 'refused', code: error.code, retryAt, failures }
}

/** What to do for a relayer. `amount` is in the smallest unit. */
type TopUpDecision =
  | { readonly kind: 'enough' }
  | { readonly kind: 'limit_reached' }
  | { readonly kind: 'pay'; readonly amount: bigint }

/**
 * Decides about a relayer without an open top-up. What the chain holds back of a new account is paid on top,
 * so that `to` can be spent, and counts for the limit as everything that is paid. Pure.
 */
export function decideTopUp(
  { below, to, max_per_day }: TopUp,
  { spendable, missingReserve }: AccountFunds,
  { paid }: Pick<TopUpHistory, 'paid'>,
): TopUpDecision {
  if (spendable >= below) return { kind: 'enough' }
  const left = larger(0n, max_per_day - paid)
  const amount = smaller(to - spendable + missingReserve, left)
  // Less than the reserve would leave the relayer with nothing to spend.
  return amount <= missingReserve ? { kind: 'limit_reached' } : { kind: 'pay', amount }
}

/** A decided top-up. */
interface TopUpPayment {
  readonly treasury: Relayer
  /** The relayer that is filled, as it was at the decision. */
  readonly relayer: Relayer
  readonly request: ChainRequest
  /** The earlier top-ups at the decision. */
  readonly history: TopUpHistory
}

/**
 * Makes the treasury accept a top-up, by all of its rules. The decision is checked again in the database
 * transaction that stores it, under the lock of the filled relayer: of two processes with the same decision,
 * one pays.
 * @throws AppError with the reason why the treasury does not pay
 */
export async function payTopUp(
  context: TransactionsContext,
  { treasury, request, ...decided }: TopUpPayment,
): Promise<Transaction> {
  const checked = await checkSubmission(context, { relayer: treasury, request, actor: SERVICE })
  const problem = refusalOf(checked)
  if (problem) throw problem
  const balance = context.runtimeOf(treasury).chain.balance(treasury.address)
  const { refusal, candidate } = await evaluate(context, checked, { balance })
  if (refusal !== undefined || candidate === undefined) throw refusal
  const topUp = { ...candidate, transaction: { ...candidate.transaction, topUpOf: decided.relayer.id } }
  const guard = (tx: Tx) => changedSince(context, tx, { ...decided, treasury })
  const [decision] = await admitCandidates(context, [topUp], { guard })
  if (decision?.kind === 'refused') throw decision.error
  if (decision?.kind !== 'admitted') throw new Error('an admission returned no decision about a top-up')
  context.observer?.created([decision.transaction])
  return decision.transaction
}

/**
 * Returns an error if the decision is no longer valid. Both relayers are locked here, because the admission
 * would lock the treasury out of their order (`database/locks/lock-order.md`).
 */
async function changedSince(
  { clock }: TransactionsContext,
  tx: Tx,
  { treasury, relayer, history }: Omit<TopUpPayment, 'request'>,
): Promise<AppError | undefined> {
  await lockInOrder(tx, [treasury.id, relayer.id])
  const present = await lockRelayer(tx, relayer.id, 'update')
  if (present === undefined || !isDeepStrictEqual(decisive(present), decisive(relayer))) return CHANGED
  const { newest, open } = toHistory(await readTopUps(tx, present, clock.now()), () => 0n, clock.now())
  return open !== undefined || newest?.id !== history.newest?.id ? CHANGED : undefined
}

/** The refusal of a decision that is no longer valid. The next round decides again. */
export const CHANGED = new AppError(
  'in_use',
  'The relayer or its top-ups changed while this one was being decided.',
)

function decisive({ network, networkType, address, paused, policies }: Relayer) {
  return { network, networkType, address, paused, topUp: policies.topUp }
}
