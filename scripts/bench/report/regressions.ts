import type { Measurement } from '../measurement.ts'
import type { Run } from './run.ts'

/** A ratio that is worse by a larger share than this is a regression; smaller differences are noise of a shared machine. */
const TOLERANCE = 0.15

/** The ratios that are worse than in the recorded run. Other numbers say too much about the machine to be compared. */
export function findRegressions(now: readonly Measurement[], before: readonly Measurement[]): string[] {
  const earlier = new Map(before.map((row) => [row.what, row]))
  return now.flatMap((row) => {
    const old = earlier.get(row.what)
    if (row.bare === undefined || old === undefined || !isWorse(row, old.value)) return []
    return [`${row.what}: ${row.value.toFixed(2)}, was ${old.value.toFixed(2)}`]
  })
}

function isWorse({ value, goal }: Measurement, before: number): boolean {
  if (goal === undefined) return false
  return goal.kind === 'at_least' ? value < before * (1 - TOLERANCE) : value > before * (1 + TOLERANCE)
}

/** The comparison with the recorded run, for a person. */
export function describeRegressions(run: Run, last: Run | undefined): string {
  if (last === undefined) return 'Regressions: no run is recorded yet.'
  const found = findRegressions(run.rows, last.rows)
  const since = `since ${last.commit} of ${last.date.slice(0, 10)}`
  if (found.length === 0) return `Regressions of more than 15 % ${since}: none.`
  return [`Regressions of more than 15 % ${since}:`, ...found.map((line) => `  ${line}`)].join('\n')
}
