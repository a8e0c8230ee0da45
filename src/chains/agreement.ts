import type { Clock } from '../lib/time.ts'

/**
 * Rules by which the answers of several endpoints become one, so that one of them alone decides nothing that costs (I16). The table of a chain
 * says which rule holds for which value. All functions but `gather` are pure.
 */

/** One value as two or more endpoints have answered it. */
type Values<T> = readonly (T | undefined)[]

/**
 * Returns the lower median of the values that were answered: the middle one of three, the cheaper one of two. A single endpoint that answers
 * anything else leaves it between the answers of the others.
 */
function lowerMedian(values: Values<bigint>): bigint | undefined {
  const sorted = sortedOf(values)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}

/** Returns the upper median: the middle one of three, the larger one of two. */
function upperMedian(values: Values<bigint>): bigint | undefined {
  const sorted = sortedOf(values)
  return sorted[Math.floor(sorted.length / 2)]
}

/** A rule by which the answers of several endpoints become one. */
export interface Rule {
  /** The rule in the words of the documentation. */
  readonly words: string
  /** Undefined if no endpoint answered. */
  readonly of: (values: Values<bigint>) => bigint | undefined
}

export const LOWER_MEDIAN: Rule = { words: 'the middle one; of two the lower one', of: lowerMedian }
export const UPPER_MEDIAN: Rule = { words: 'the middle one; of two the higher one', of: upperMedian }

function sortedOf(values: Values<bigint>): bigint[] {
  return values
    .filter((value) => value !== undefined)
    .toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0))
}

/**
 * Returns the newest block on which endpoints agree: the second highest of three or more, because one that names a block of the far future
 * would make all others late; the highest of two, because one that stands still would hold up both.
 */
export function agreedHead(heights: Values<bigint>): bigint | undefined {
  const sorted = sortedOf(heights)
  return sorted.at(sorted.length < 3 ? -1 : -2)
}

/** An answer and the height of the endpoint that gave it; undefined if it told none. */
export interface Told {
  readonly height?: bigint | undefined
}

/**
 * An endpoint is at the head if it is late by no more than this time, in ms, and by no more than two blocks on slow chains. With less, ordinary
 * differences between endpoints exclude one of them; with more, prices of the past count.
 */
const AT_HEAD_MS = 10_000
const AT_HEAD_BLOCKS = 2

/** Returns the number of blocks by which an endpoint of a chain with this block time may be late and still counts. */
export function headTolerance(blocktimeMs: number): bigint {
  return BigInt(Math.max(AT_HEAD_BLOCKS, Math.ceil(AT_HEAD_MS / blocktimeMs)))
}

/** Returns the answers of the endpoints that are at the head; all of them if none told a height. */
export function atHead<T extends Told>(told: readonly T[], tolerance: bigint): readonly T[] {
  const head = agreedHead(told.map(({ height }) => height))
  if (head === undefined) return told
  return told.filter(({ height }) => height !== undefined && height + tolerance >= head)
}

/** Answers within this factor of each other say the same: prices move between the questions to two endpoints. */
const SAME_FACTOR = 2n

/** Returns true if two answers say the same. */
export function saysSame(one: bigint | undefined, other: bigint | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one <= other * SAME_FACTOR && other <= one * SAME_FACTOR
}

/**
 * Others are waited for this long after the first answer, in ms. With less, an endpoint that is far away never counts; with more, one that
 * hangs delays everything until its time-out takes it out of use.
 */
const LATE_MS = 2_000

interface GatherOptions<T> {
  readonly clock: Clock
  /** More answers would change nothing. */
  readonly isEnough: (answers: readonly T[]) => boolean
}

/**
 * Collects answers until they are enough, or all are there, or the others are late. Returns what has arrived, in the order of the questions. The
 * questions never reject.
 */
export async function gather<T>(
  asked: readonly Promise<T>[],
  { clock, isEnough }: GatherOptions<T>,
): Promise<T[]> {
  const arrived = new Map<number, T>()
  const inOrder = () => asked.flatMap((_, index) => (arrived.has(index) ? [arrived.get(index) as T] : []))
  const { promise, resolve } = Promise.withResolvers<void>()
  const over = new AbortController()
  for (const [index, question] of asked.entries()) {
    void question.then((answer) => {
      arrived.set(index, answer)
      if (arrived.size === asked.length || isEnough(inOrder())) return resolve()
      if (arrived.size === 1) void clock.sleep(LATE_MS, over.signal).then(() => resolve())
    })
  }
  if (asked.length > 0) await promise
  over.abort()
  return inOrder()
}
