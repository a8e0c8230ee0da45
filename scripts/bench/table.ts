import { isMet, type Measurement } from './measurement.ts'

const HEADER = ['what', 'ours', 'bare', 'ratio', 'budget', '']

/** The measurements as aligned columns, for a person. */
export function table(measurements: readonly Measurement[]): string {
  const rows = [HEADER, ...measurements.map(cells)]
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, column, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cells(measurement: Measurement): string[] {
  const { what, ours, bare = '', value, budget } = measurement
  const ratio = bare === '' ? '' : value.toFixed(2)
  if (budget === undefined) return [what, ours, bare, ratio, '', '']
  const sign = budget.kind === 'at_least' ? '≥' : '≤'
  return [
    what,
    ours,
    bare,
    ratio,
    `${sign} ${budget.limit} ${budget.unit}`,
    isMet(value, budget) ? 'met' : 'NOT met',
  ]
}

/** Words to the left, numbers to the right. */
function pad(cell: string, column: number, width: number): string {
  return column === 0 || column === HEADER.length - 1 ? cell.padEnd(width) : cell.padStart(width)
}
