import { toJson } from './api-client.ts'

/** A cell of a table. Absent values are shown as nothing. */
export type Cell = string | number | bigint | boolean | undefined

/** The widest that a cell is shown, in characters. The signature of a Solana transaction has so many. */
const MAX_WIDTH = 88

/** Formats rows as lines with aligned columns below their names. */
export function formatTable(columns: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const lines = [columns, ...rows.map((row) => row.map(shown))]
  const widths = columns.map((_name, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)))
  return lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function shown(cell: Cell): string {
  const text = cell === undefined ? '' : String(cell)
  return text.length > MAX_WIDTH ? `${text.slice(0, MAX_WIDTH - 1)}…` : text
}

/** Formats the fields of a record as lines `name: value`. Objects and lists are JSON in one line, with exact integers. */
export function formatRecord(record: object): string[] {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined)
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => {
    const text = typeof value === 'object' ? toJson(value, { indented: false }) : String(value)
    return `${`${name}:`.padEnd(width + 1)} ${text}`
  })
}
