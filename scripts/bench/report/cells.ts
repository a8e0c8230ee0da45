import { isMet, type Measurement } from '../measurement.ts'

/** Our number divided by that of the counterpart; empty where there is none. */
export function ratioOf({ bare, value }: Measurement): string {
  return bare === undefined ? '' : value.toFixed(2)
}

/** The goal with its sign, e.g. `≤ 15 ms`; empty for what is only told. */
export function goalOf({ goal }: Measurement): string {
  if (goal === undefined) return ''
  const unit = goal.unit === '×' ? '' : goal.unit
  return `${goal.kind === 'at_least' ? '≥' : '≤'} ${goal.limit} ${unit}`.trimEnd()
}

export function verdictOf({ goal, value }: Measurement): string {
  if (goal === undefined) return ''
  return isMet(value, goal) ? 'met' : 'missed'
}
