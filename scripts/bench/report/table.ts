import { isMeasured, type Row } from '../measurement.ts'
import { goalOf, ratioOf, verdictOf } from './cells.ts'

const HEADER = ['what', 'ours', 'bare', 'ratio', 'goal', '']

/** The rows as aligned columns, for a person. */
export function table(rows: readonly Row[]): string {
  const lines = [HEADER, ...rows.map(cells)]
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, column, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cells(row: Row): string[] {
  if (!isMeasured(row)) return [row.what, row.reason, '', '', '', '']
  return [row.what, row.ours, row.bare ?? '', ratioOf(row), goalOf(row), verdictOf(row)]
}

/** Words to the left, numbers to the right. */
function pad(cell: string, column: number, width: number): string {
  return column === 0 || column === HEADER.length - 1 ? cell.padEnd(width) : cell.padStart(width)
}
