/** One line of the table: a number of ours beside that of a bare counterpart, and what design asks of it. */
export interface Measurement {
  readonly what: string
  /** With the unit. */
  readonly ours: string
  /** The counterpart's number, with the unit; absent where a number stands for itself. */
  readonly bare?: string
  /** What the budget is about: a ratio, or the number itself. */
  readonly value: number
  /** Absent for what is only told. */
  readonly budget?: Budget
}

/** The least or the most that `value` may be, and how it is written. */
export type Budget =
  | { readonly kind: 'at_least'; readonly limit: number; readonly unit: string }
  | { readonly kind: 'at_most'; readonly limit: number; readonly unit: string }

export function atLeast(limit: number, unit = '×'): Budget {
  return { kind: 'at_least', limit, unit }
}

export function atMost(limit: number, unit = '×'): Budget {
  return { kind: 'at_most', limit, unit }
}

/** Whether a number is within its budget. */
export function isMet(value: number, budget: Budget): boolean {
  return budget.kind === 'at_least' ? value >= budget.limit : value <= budget.limit
}

/** The number below which a share of the values lies. `share` is 0.5 for the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
