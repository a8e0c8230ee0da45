import { type AssetAmount, NATIVE } from '../chains/effects.ts'
import { larger } from '../lib/bigint.ts'
import { concerns, type RuleResult, resultOf } from './evaluate-content.ts'
import { isUser, PERIODS, type Period, type Spender, type SpendingLimit } from './rules.ts'

/** Amounts of one asset. Fees and the count belong to the native currency. */
export interface Spent {
  readonly value: bigint
  readonly fees: bigint
  readonly count: number
}

/** Nothing. */
export const ZERO_SPENT: Spent = Object.freeze({ value: 0n, fees: 0n, count: 0 })

/** Names what is counted: one spender, network and asset. */
export interface Counter {
  readonly subject: string
  /** By type and name. */
  readonly network: string
  readonly asset: string
}

/** Returns how much a spender has spent in a period. */
export type SpentIn = (counter: Counter, period: Period) => Spent

/** A charge says how much a transaction may spend at most. */
export interface Charge {
  /** By type and name. */
  readonly network: string
  readonly amounts: readonly AssetAmount[]
  /** The transaction costs this much besides its value, in the native currency. */
  readonly fees: bigint
}

/** Splits a charge by asset. The native currency is always one of them, because it has the fees and the count. */
export function spentOf({ amounts, fees }: Charge): Map<string, Spent> {
  const spent = new Map<string, Spent>([[NATIVE, { value: 0n, fees, count: 1 }]])
  for (const { asset, value } of amounts) {
    const { fees: ofAsset, count } = spent.get(asset) ?? ZERO_SPENT
    spent.set(asset, { value, fees: ofAsset, count })
  }
  return spent
}

/** The sums that were counted before a request. */
interface Before {
  readonly spentIn: SpentIn
  /** The part of it that the transaction of the request holds already, as far as it counts in the period. */
  readonly countedIn?: SpentIn
  /** The most that the transaction holds: its earlier content can still be included. */
  readonly mostOf?: (counter: Counter) => Spent
}

/** Checks a charge, on top of earlier spending, against the limits of a spender. Pure. */
export function evaluateLimits(
  spender: Spender,
  charge: Charge,
  { spentIn, countedIn = () => ZERO_SPENT, mostOf = () => ZERO_SPENT }: Before,
): RuleResult[] {
  const spent = spentOf(charge)
  return (spender.rules.limits ?? []).flatMap((limit, index) => {
    if (!concerns(limit, charge.network)) return []
    const counter = { subject: spender.subject, network: charge.network, asset: limit.asset }
    const wanted = spent.get(limit.asset) ?? ZERO_SPENT
    if (limit.per === 'transaction')
      return evaluateAmounts(spender, { limit, index, before: ZERO_SPENT, wanted, network: charge.network })
    // The sums already include the holding of the transaction, so only the difference is added.
    const before = subtract(spentIn(counter, limit.per), countedIn(counter, limit.per))
    const total = maxSpent(wanted, mostOf(counter))
    return evaluateAmounts(spender, { limit, index, before, wanted: total, network: charge.network })
  })
}

interface Question {
  readonly limit: SpendingLimit
  readonly index: number
  readonly network: string
  readonly before: Spent
  readonly wanted: Spent
}

const AMOUNTS = ['value', 'fees', 'count'] as const

function evaluateAmounts(
  spender: Spender,
  { limit, index, network, before, wanted }: Question,
): RuleResult[] {
  return AMOUNTS.flatMap((name) => {
    const allowed = limit[name]
    if (allowed === undefined) return []
    const left = BigInt(allowed) - BigInt(before[name])
    const asset = name === 'value' && limit.asset !== NATIVE ? ` of ${limit.asset}` : ''
    const what = name === 'count' ? 'transactions' : `${name}${asset}`
    return [
      resultOf(spender, {
        rule: `${isUser(spender) ? 'user_limits' : 'limits'}[${index}].${name}`,
        allowed: BigInt(wanted[name]) <= left,
        detail: `${what} up to ${allowed} per ${limit.per} on ${network}; ${left < 0n ? 0n : left} is left, and this transaction needs up to ${wanted[name]}`,
      }),
    ]
  })
}

/** The larger of each amount. */
export function maxSpent(one: Spent, other: Spent): Spent {
  return {
    value: larger(one.value, other.value),
    fees: larger(one.fees, other.fees),
    count: Math.max(one.count, other.count),
  }
}

/** The sum of each amount. */
export function add(one: Spent, other: Spent): Spent {
  return { value: one.value + other.value, fees: one.fees + other.fees, count: one.count + other.count }
}

/** Lists what a spender's rolling limits on a network need to know. */
export function askedBy(
  spenders: readonly Spender[],
  network: string,
): { counter: Counter; period: Period }[] {
  const asked = new Map<string, { counter: Counter; period: Period }>()
  for (const { subject, rules } of spenders)
    for (const limit of rules.limits ?? []) {
      const { per, asset } = limit
      const period = PERIODS.find((one) => one === per)
      if (period === undefined || !concerns(limit, network)) continue
      asked.set(JSON.stringify([subject, asset, per]), { counter: { subject, network, asset }, period })
    }
  return [...asked.values()]
}

/** The difference of each amount, which can be negative. */
export function subtract(one: Spent, other: Spent): Spent {
  return { value: one.value - other.value, fees: one.fees - other.fees, count: one.count - other.count }
}

interface Shape {
  /** The length of the rolling period, in ms. */
  readonly lengthMs: number
  /** Spending within one step is counted together, in ms. A longer step makes fewer rows, and releases a budget later. */
  readonly stepMs: number
}

const MINUTE_MS = 60_000

/** The rolling periods. A month has 30 days. */
export const SHAPES: Readonly<Record<Period, Shape>> = {
  hour: { lengthMs: 60 * MINUTE_MS, stepMs: MINUTE_MS },
  day: { lengthMs: 24 * 60 * MINUTE_MS, stepMs: 15 * MINUTE_MS },
  month: { lengthMs: 30 * 24 * 60 * MINUTE_MS, stepMs: 6 * 60 * MINUTE_MS },
}

/** Returns the start of the step in which something is counted. */
export function stepOf(period: Period, at: Date): Date {
  const { stepMs } = SHAPES[period]
  return new Date(Math.floor(at.getTime() / stepMs) * stepMs)
}

/**
 * Returns the start of the first step that counts now. A step counts until its last moment is a whole period ago, so that a budget is never
 * released too early, and up to one step late.
 */
export function firstStep(period: Period, now: Date): Date {
  return stepOf(period, new Date(now.getTime() - SHAPES[period].lengthMs))
}
