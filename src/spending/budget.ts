import { type AssetAmount, NATIVE } from '../chains/effects.ts'
import { larger } from '../lib/bigint.ts'
import type { Period } from './rules.ts'

/** The amounts that are counted and limited. */
export const AMOUNTS = ['value', 'fees', 'count'] as const satisfies readonly (keyof Spent)[]

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

/** A sum to read. */
export interface Asked {
  readonly counter: Counter
  readonly period: Period
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

/** Splits a charge by asset. The native currency is always one, because it has the fees and the count. */
export function spentOf({ amounts, fees }: Charge): Map<string, Spent> {
  const spent = new Map<string, Spent>([[NATIVE, { value: 0n, fees, count: 1 }]])
  for (const { asset, value } of amounts) {
    const { fees: ofAsset, count } = spent.get(asset) ?? ZERO_SPENT
    spent.set(asset, { value, fees: ofAsset, count })
  }
  return spent
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

/** The difference of each amount, which can be negative. */
export function subtract(one: Spent, other: Spent): Spent {
  return { value: one.value - other.value, fees: one.fees - other.fees, count: one.count - other.count }
}

interface Shape {
  /** The length of the rolling period, in ms. */
  readonly lengthMs: number
  /**
   * Spending within one step is counted together, in ms. A longer step makes fewer rows, and releases a
   * budget later.
   */
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
 * Returns the start of the first step that counts now. A step counts until its last moment is a whole period
 * ago, so that a budget is never released too early, and up to one step late.
 */
export function firstStep(period: Period, now: Date): Date {
  return stepOf(period, new Date(now.getTime() - SHAPES[period].lengthMs))
}
