import { expect, test } from 'vitest'
import { atLeast, atMost, type Measurement } from '../../scripts/bench/measurement.ts'
import { withBenchmarks } from '../../scripts/bench/report/readme-table.ts'
import { findRegressions } from '../../scripts/bench/report/regressions.ts'
import { type Run, withNewerRows } from '../../scripts/bench/report/run.ts'

const BEGIN = '<!-- benchmarks: written by `node scripts/bench-table.ts` -->'
const END = '<!-- end of benchmarks -->'

const send: Measurement = { what: 'send', ours: '300 /s', bare: '600 /s', value: 0.5, goal: atLeast(0.35) }
const memory: Measurement = { what: 'memory', ours: '300 MB', value: 300, goal: atMost(260, 'MB') }
const run: Run = {
  commit: 'abc1234',
  date: '2026-01-31T10:00:00.000Z',
  node: 'v24.9.0',
  processor: 'a processor',
  cores: 2,
  rows: [send, memory, { what: 'told', ours: '3', value: 3 }],
}

test('the table of a run replaces what is between the marks, and says which goals are met', () => {
  const text = withBenchmarks(`before\n\n${BEGIN}\nold\n${END}\n\nafter\n`, run)
  expect(text).toBe(
    [
      'before\n',
      BEGIN,
      'Commit `abc1234`, 2026-01-31, Node v24.9.0, 2 × a processor:\n',
      '| | ours | bare | ratio | goal |',
      '|---|---|---|---|---|',
      '| send | 300 /s | 600 /s | 0.50 | ≥ 0.35, met |',
      '| memory | 300 MB | | | ≤ 260 MB, missed |',
      '| told | 3 | | | |',
      `${END}\n\nafter\n`,
    ].join('\n'),
  )
  expect(withBenchmarks(text, run)).toBe(text)
})

test('a run can have newer rows of some parts, which tell what they were measured on', () => {
  const newer = {
    ...run,
    commit: 'def5678',
    rows: [
      { ...send, ours: '330 /s', value: 0.55 },
      { ...memory, what: 'more' },
    ],
  }
  const text = withBenchmarks(`${BEGIN}\n${END}`, withNewerRows(run, newer))
  expect(text.split('\n').slice(1, -1)).toEqual([
    'Commit `abc1234`, 2026-01-31, Node v24.9.0, 2 × a processor:',
    '',
    '| | ours | bare | ratio | goal |',
    '|---|---|---|---|---|',
    '| send (commit `def5678`) | 330 /s | 600 /s | 0.55 | ≥ 0.35, met |',
    '| memory | 300 MB | | | ≤ 260 MB, missed |',
    '| told | 3 | | | |',
    '| more (commit `def5678`) | 300 MB | | | ≤ 260 MB, missed |',
  ])
})

test('the table can have the rows that begin in certain ways alone', () => {
  const text = withBenchmarks(`${BEGIN}\n${END}`, run, ['told', 'mem'])
  expect(text.split('\n').slice(5, -1)).toEqual([
    '| told | 3 | | | |',
    '| memory | 300 MB | | | ≤ 260 MB, missed |',
  ])
  expect(() => withBenchmarks(`${BEGIN}\n${END}`, run, ['nothing'])).toThrow(
    'No row of the run begins with "nothing"',
  )
})

test('a text without the marks is refused', () => {
  expect(() => withBenchmarks('nothing', run)).toThrow('The marks are missing')
})

const slowdown = (value: number): Measurement => ({ ...send, what: 'slowdown', value, goal: atMost(1.3) })

test.each([
  [
    'a ratio that should be high and fell by more than 15 %',
    { ...send, value: 0.42 },
    { ...send, value: 0.5 },
    1,
  ],
  ['a ratio that should be high and fell by less', { ...send, value: 0.43 }, { ...send, value: 0.5 }, 0],
  ['a ratio that should be high and rose', { ...send, value: 0.9 }, { ...send, value: 0.5 }, 0],
  ['a ratio that should be low and rose by more than 15 %', slowdown(1.17), slowdown(1), 1],
  ['a ratio that should be low and fell', slowdown(0.5), slowdown(1), 0],
  ['a number without a counterpart', { ...memory, value: 900 }, memory, 0],
  ['a row that was not measured before', send, memory, 0],
])('regressions: %s', (_, now, before, count) => {
  expect(findRegressions([now], [before])).toHaveLength(count)
})
