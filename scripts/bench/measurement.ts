/** A row of the table: a number of ours beside that of a bare counterpart, and the goal. */
export interface Measurement {
  readonly what: string
  /** With the unit. */
  readonly ours: string
  /** The counterpart's number, with the unit; absent if a number stands for itself. */
  readonly bare?: string
  /** What the goal is about: a ratio, or the number itself. */
  readonly value: number
  /** Absent for what is only told. */
  readonly goal?: Goal
  /** What it was measured on, if that is another commit than that of the run. */
  readonly commit?: string
}

/** A row that this machine cannot measure. */
export interface Missing {
  readonly what: string
  readonly reason: string
}

export type Row = Measurement | Missing

/** The least or the most that `value` may be, and how it is written. */
export interface Goal {
  readonly kind: 'at_least' | 'at_most'
  readonly limit: number
  readonly unit: string
}

export function atLeast(limit: number, unit = '×'): Goal {
  return { kind: 'at_least', limit, unit }
}

export function atMost(limit: number, unit = '×'): Goal {
  return { kind: 'at_most', limit, unit }
}

/** True when a number reaches its goal. */
export function isMet(value: number, goal: Goal): boolean {
  return goal.kind === 'at_least' ? value >= goal.limit : value <= goal.limit
}

export function isMeasured(row: Row): row is Measurement {
  return !('reason' in row)
}

/** The number below which a share of the values lies. `share` is 0.5 for the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** A number that stands for itself, e.g. `1.25 ms`, with or without a goal. */
export function single(
  what: string,
  value: number,
  { unit, digits = 0, limit }: { readonly unit: string; readonly digits?: number; readonly limit?: number },
): Measurement {
  const ours = `${value.toFixed(digits)} ${unit}`.trimEnd()
  return { what, ours, value, ...(limit !== undefined && { goal: atMost(limit, unit) }) }
}

/** Rows that need PostgreSQL, on a machine that has none. */
export function withoutPostgres(...whats: readonly string[]): Missing[] {
  return whats.map((what) => ({ what, reason: 'PostgreSQL not found' }))
}
