import { smaller } from '../lib/bigint.ts'
import { type Counter, maxSpent, type Spent, subtract, ZERO_SPENT } from './budget.ts'

/** A holding says how much one version of a transaction takes from one budget of a spender. */
export interface Holding extends Counter {
  readonly transactionId: string
  /**
   * Counts from 1. Content that may be executed in addition to what was signed before is another version, and
   * another charge.
   */
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

/** A holding as it was, and as it is now. Absent `before`: it has just begun. */
export interface HoldingChange {
  readonly before?: Holding | undefined
  readonly after: Holding
}

/** A change of what counts at a time. */
export interface CountChange extends Counter {
  readonly at: Date
  readonly spent: Spent
}

/**
 * Raises a holding to what its transaction can take now. All of it counts from now on, so that what is added
 * late is not released with what is older. Returns the same holding if nothing changes.
 */
export function increase(before: Holding, spent: Spent, now: Date): Holding {
  const higher = maxSpent(before.most, spent)
  if (isSame(higher, before.counted)) return before
  return { ...before, most: higher, counted: higher, settled: false, at: now }
}

/**
 * Reduces a holding to what its transaction finally cost and releases the rest. Only the content that a
 * spender sent is its value, and the fees are those that the chain charged.
 */
export function release(before: Holding, took: Spent): Holding {
  const value = smaller(took.value, before.most.value)
  const counted = { value, fees: took.fees, count: Math.min(before.most.count, took.count) }
  return { ...before, counted, settled: true }
}

/** Opens a holding again: the chain has reversed its decision, so the most counts until the next one. */
export function reopen(before: Holding): Holding {
  return before.settled ? { ...before, counted: before.most, settled: false } : before
}

/** Returns true if each version that was charged is closed, so that the next one has to be charged. */
export function awaitsCharge(holdings: readonly Holding[]): boolean {
  return holdings.length > 0 && holdings.every(({ closed }) => closed)
}

/** Returns what the change of a holding adds to the sums, and takes from them. */
export function countChanges({ before, after }: HoldingChange): CountChange[] {
  const added = { ...counterOf(after), at: after.at, spent: after.counted }
  if (before === undefined) return [added]
  if (isSame(before.counted, after.counted) && before.at.getTime() === after.at.getTime()) return []
  return [{ ...counterOf(before), at: before.at, spent: subtract(ZERO_SPENT, before.counted) }, added]
}

function counterOf({ subject, network, asset }: Counter): Counter {
  return { subject, network, asset }
}

function isSame(one: Spent, other: Spent): boolean {
  return one.value === other.value && one.fees === other.fees && one.count === other.count
}
