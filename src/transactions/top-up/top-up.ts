import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { inactive } from '../../relayers/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import { decideTopUp } from './decide.ts'
import { type TopUpHistory, toHistory } from './history.ts'
import { CHANGED, payTopUp } from './pay.ts'
import { type StoredTopUpState, waitAfter } from './state.ts'
import { readTopUpState, saveTopUpState } from './state-store.ts'
import { readTopUps } from './top-ups-store.ts'

/** The settings of top-ups. */
export interface TopUpOptions {
  /** Time in ms between two looks at a relayer; the wait after a failure doubles from it. */
  readonly intervalMs: number
}

/** Fills a relayer from its treasury where that is due, and stores what it decided. */
export async function topUpRelayer(
  context: TransactionsContext,
  relayerId: string,
  options: TopUpOptions,
): Promise<void> {
  const { db, clock, log } = context
  const relayer = await context.relayerOf(relayerId)
  if (relayer === undefined || relayer.paused) return
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

/** Returns the state of the relayer afterwards; undefined when no node tells its balance, so that nothing is known. */
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
  // The nodes of the treasury tell the balance: those of the relayer may belong to whoever profits from a wrong one. A node that has not
  // reached the block of the last top-up would tell a balance without it.
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
 * @throws AppError when it cannot pay, or the relayer is disabled for another reason than its balance
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

/** Returns the state of a relayer whose last payment did not succeed lately: each one can cost a fee and would probably fail again. */
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
