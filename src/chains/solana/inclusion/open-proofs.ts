import type { EndpointStatuses } from '../read/receipts.ts'
import type { Life } from './life.ts'

/** A transaction whose absence has to be proved with ledgers. */
export interface Open<T> {
  readonly of: T
  readonly life: Life
  /** The answers of each endpoint about its signatures. */
  readonly endpoints: readonly EndpointStatuses[]
}

/** Lives that begin at most this many blocks apart are proved together, because they share most of their blocks. */
const NEAR_BLOCKS = 150n

/** Groups transactions with lives close to each other; a transaction with a life by slot stays alone. */
export function groupByLife<T>(open: readonly Open<T>[]): Open<T>[][] {
  const alone = open.filter(({ life }) => !livesByHeight(life))
  const sorted = open.filter(({ life }) => livesByHeight(life)).sort(byStart)
  const groups: Open<T>[][] = []
  for (const one of sorted) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && startOf(one) - startOf(group[0]) <= NEAR_BLOCKS) group.push(one)
    else groups.push([one])
  }
  return [...groups, ...alone.map((one) => [one])]
}

function livesByHeight({ fromHeight, fromSlot, toHeight }: Life): boolean {
  return fromHeight !== undefined && toHeight !== undefined && fromSlot === undefined
}

function startOf<T>({ life: { fromHeight = 0n } }: Open<T>): bigint {
  return fromHeight
}

function byStart<T>(one: Open<T>, other: Open<T>): number {
  const difference = startOf(one) - startOf(other)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
