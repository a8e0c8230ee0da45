/**
 * Where a spreadsheet begins a cell, in countries that divide by semicolons, too: it takes these characters
 * for the beginning of a formula there, whatever quotes are between.
 */
const FORMULA = /(^|[;|,\t\r\n])(["'\s]*)([=+\-@])/g

/** Writes a line of CSV (RFC 4180). An apostrophe makes text of what a spreadsheet would calculate. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(text: string): string {
  const safe = text.replaceAll(FORMULA, "$1$2'$3")
  return /[",;|\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
