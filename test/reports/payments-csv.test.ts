import { describe, expect, test } from 'vitest'
import { csvLine } from '../../src/reports/csv.ts'

/** Reads a line as a spreadsheet does that divides by this character. */
function cellsOf(line: string, separator: string): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? ''
    if (isQuoted && character === '"' && line[at + 1] === '"') {
      cell += '"'
      at += 1
    } else if (character === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += character
  }
  return [...cells, cell]
}

describe('a cell', () => {
  const LEADS = [
    '=',
    '+',
    '-',
    '@',
    '"=',
    "'=",
    ';=',
    ';"=',
    '";=',
    '|=',
    ',=',
    'a;=',
    'a,=',
    '"";""=',
    ';;@',
    '\t=',
    'a\n=',
    '\r-',
  ]

  test.each(LEADS.map((lead) => `${lead}HYPERLINK("http://evil.example")`))(
    '%j is no formula in any spreadsheet',
    (text) => {
      for (const separator of [',', ';', '|', '\t']) {
        const line = csvLine(['2026-11-20', text, 'end'])
        for (const part of line.split(/[\r\n]/))
          for (const cell of cellsOf(part, separator)) expect(cell).not.toMatch(/^\s*[=+\-@]/)
      }
    },
  )

  test.each([
    ['1.5', '1.5'],
    ['2026-11-20T10:00:00.000Z', '2026-11-20T10:00:00.000Z'],
    ['invoice-1017', 'invoice-1017'],
    ['EUR:GABC', 'EUR:GABC'],
    ['a"b', '"a""b"'],
    ['a,b', '"a,b"'],
    ['-2-3', "'-2-3"],
  ])('%j is written as %j', (text, want) => {
    expect(csvLine([text])).toBe(`${want}\r\n`)
  })
})
