import type { Schemas } from '../contract/operations.ts'

/** The columns of a report in their order, by their names in JSON. */
export const REPORT_COLUMNS = [
  'day',
  'relayer_id',
  'requested_by',
  'network',
  'asset',
  'value',
  'fees',
  'transactions',
  'unknown_values',
  'unknown_fees',
] as const satisfies readonly (keyof Schemas['SpendingReportRow'])[]

/**
 * Writes rows as CSV (RFC 4180) with a header. No field needs quotes: ids, networks and assets consist of letters, digits and `:._-`. An id may
 * begin with `-`, by which a spreadsheet would calculate `-2-3`; the apostrophe before it makes it a text, and no id has one of its own.
 */
export function reportCsv(rows: readonly Schemas['SpendingReportRow'][]): string {
  const field = (value: string | number) => (String(value).startsWith('-') ? `'${value}` : value)
  const texts = rows.map((row) => REPORT_COLUMNS.map((column) => field(row[column] ?? '')).join(','))
  return [REPORT_COLUMNS.join(','), ...texts].map((text) => `${text}\r\n`).join('')
}
