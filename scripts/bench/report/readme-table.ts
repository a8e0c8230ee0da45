import type { Measurement } from '../measurement.ts'
import { goalOf, ratioOf, verdictOf } from './cells.ts'
import { describeMachine, type Run } from './run.ts'

const BEGIN = '<!-- benchmarks: written by `node scripts/bench-table.ts` -->'
const END = '<!-- end of benchmarks -->'

/**
 * Puts the numbers of a run between the two marks of a text; the words around them stay.
 * @throws Error when a mark is missing
 */
export function withBenchmarks(text: string, run: Run): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`The marks are missing: ${BEGIN} and ${END}`)
  return `${text.slice(0, begin + BEGIN.length)}\n${sectionOf(run)}\n${text.slice(end)}`
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
  return `| ${[row.what, row.ours, row.bare ?? '', ratioOf(row), goal].join(' | ')} |`.replaceAll(/ +/g, ' ')
}
