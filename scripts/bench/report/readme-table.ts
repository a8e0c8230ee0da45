import type { Measurement } from '../measurement.ts'
import { goalOf, ratioOf, verdictOf } from './cells.ts'
import { describeMachine, type Run } from './run.ts'

const BEGIN = '<!-- benchmarks: written by `node scripts/bench-table.ts` -->'
const END = '<!-- end of benchmarks -->'

/** What people ask for first, by the beginnings of its rows. The README has these, docs/benchmarks.md has all of them. */
export const HEADLINES = [
  'send embedded, one account,',
  'send on PostgreSQL, one account, until',
  'send: from the request to the node, light load, p50',
  'start until ready, embedded, warm',
  'resident when idle, embedded',
]

/**
 * Puts the numbers of a run between the two marks of a text; the words around them stay. With `beginnings`, only the rows that begin so.
 * @throws Error if a mark is missing, or no row has one of the beginnings
 */
export function withBenchmarks(text: string, run: Run, beginnings?: readonly string[]): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`The marks are missing: ${BEGIN} and ${END}`)
  const rows = beginnings?.map((beginning) => rowThatBegins(run, beginning)) ?? run.rows
  return `${text.slice(0, begin + BEGIN.length)}\n${sectionOf({ ...run, rows })}\n${text.slice(end)}`
}

function rowThatBegins({ rows }: Run, beginning: string): Measurement {
  const row = rows.find(({ what }) => what.startsWith(beginning))
  if (row === undefined) throw new Error(`No row of the run begins with "${beginning}".`)
  return row
}

function sectionOf(run: Run): string {
  return [
    `Commit \`${run.commit}\`, ${run.date.slice(0, 10)}, ${describeMachine(run)}:`,
    '',
    '| | ours | bare | ratio | goal |',
    '|---|---|---|---|---|',
    ...run.rows.map(line),
  ].join('\n')
}

function line(row: Measurement): string {
  const goal = [goalOf(row), verdictOf(row)].filter((text) => text !== '').join(', ')
  const what = row.commit === undefined ? row.what : `${row.what} (commit \`${row.commit}\`)`
  return `| ${[what, row.ours, row.bare ?? '', ratioOf(row), goal].join(' | ')} |`.replaceAll(/ +/g, ' ')
}
