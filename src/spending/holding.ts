import { smaller } from '../lib/bigint.ts'
import { type Counter, maxSpent, type Spent, ZERO_SPENT } from './budget.ts'

/** A holding says how much one version of a transaction takes from the budget of one spender, in one asset. */
export interface Holding extends Counter {
  readonly transactionId: string
  /** Counts from 1. Content that may be executed in addition to what was signed before is another version, and another charge. */
  readonly version: number
  /** True when what is signed next is another version. */
  readonly closed: boolean
  /** The time at which it counts. */
  readonly at: Date
  /** The most that the version can take, whichever of its attempts is included. */
  readonly most: Spent
  /** This amount counts now. */
  readonly counted: Spent
  /** True when the chain has decided. */
  readonly settled: boolean
}

/** A change of what counts at a time. */
export interface CountChange extends Counter {
  readonly at: Date
  readonly spent: Spent
}

/** A holding, and the changes of the sums that come with it. */
export interface HoldingChange {
  readonly holding: Holding
  readonly changes: readonly CountChange[]
}

interface Beginning extends Pick<Holding, 'transactionId' | 'version' | 'at' | 'settled'> {
  readonly spent: Spent
}

/** Begins a holding. */
export function reserve(counter: Counter, { spent, ...beginning }: Beginning): HoldingChange {
  const holding = { ...counter, ...beginning, closed: false, most: spent, counted: spent }
  return { holding, changes: [change(holding, beginning.at, spent)] }
}

/**
 * Raises a holding to what its transaction can take now. All of it counts from now on, so that what is added late is not released with what
 * is older. Undefined if nothing changes.
 */
export function increase(before: Holding, spent: Spent, now: Date): HoldingChange | undefined {
  const higher = maxSpent(before.most, spent)
  if (isSame(higher, before.counted)) return undefined
  const holding = { ...before, most: higher, counted: higher, settled: false, at: now }
  return { holding, changes: [taken(before), change(before, now, higher)] }
}

/**
 * Reduces a holding to what its transaction finally cost and releases the rest. Only the content that a spender sent is its value, and the
 * fees are those that the chain charged.
 */
export function release(before: Holding, took: Spent): HoldingChange {
  const value = smaller(took.value, before.most.value)
  const counted = { value, fees: took.fees, count: Math.min(before.most.count, took.count) }
  return {
    holding: { ...before, counted, settled: true },
    changes: isSame(counted, before.counted) ? [] : [taken(before), change(before, before.at, counted)],
  }
}

/** Opens a holding again: the chain has reversed its decision, so the maximum counts until it decides again. */
export function reopen(before: Holding): HoldingChange | undefined {
  if (!before.settled) return undefined
  const holding = { ...before, counted: before.most, settled: false }
  return { holding, changes: [taken(before), change(before, before.at, before.most)] }
}

/** Returns true if each version of the transaction that was charged is closed, so that the next one has to be. */
export function awaitsCharge(holdings: readonly Holding[]): boolean {
  return holdings.length > 0 && holdings.every(({ closed }) => closed)
}

/** Returns the holdings of the newest version of each transaction, spender and asset. */
export function newest(holdings: readonly Holding[]): Holding[] {
  return holdings.filter(
    (one) => !holdings.some((other) => isSameBut(one, other) && other.version > one.version),
  )
}

function isSameBut(one: Holding, other: Holding): boolean {
  return (
    one.transactionId === other.transactionId && one.subject === other.subject && one.asset === other.asset
  )
}

function change({ subject, network, asset }: Counter, at: Date, spent: Spent): CountChange {
  return { subject, network, asset, at, spent }
}

function taken(holding: Holding): CountChange {
  const { value, fees, count } = holding.counted
  return change(holding, holding.at, { value: -value, fees: -fees, count: -count })
}

function isSame(one: Spent, other: Spent): boolean {
  return one.value === other.value && one.fees === other.fees && one.count === other.count
}

/** Returns what a holding counts for while it is in the period that began at `since`. */
export function countedSince({ at, counted }: Holding, since: Date): Spent {
  return at.getTime() >= since.getTime() ? counted : ZERO_SPENT
}
