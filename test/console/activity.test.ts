import { expect, test } from 'vitest'
import type { Schemas } from '../../clients/typescript/src/index.ts'
import { formatWait, groupsOf, PERIODS, rangeOf, stepsOf } from '../../console/src/pages/overview/activity.ts'

const NOW = Date.parse('2026-11-20T10:17:00.000Z')

const ROW: Schemas['ActivityRow'] = {
  start: '2026-11-20T10:00:00.000Z',
  network: 'evm:anvil',
  name: 'main',
  accepted: 3,
  confirmed: 1,
  failed: 1,
  canceled: 0,
  expired: 1,
  fees: '63000000441000',
  unknown_fees: 0,
  wait_median_ms: 2_100,
  wait_p95_ms: 2_900,
}

test('a period ends with the step of now, and the service gets it whole', () => {
  const steps = stepsOf(PERIODS.day, NOW)
  expect(steps).toHaveLength(24)
  expect(new Date(steps.at(-1) ?? 0).toISOString()).toBe('2026-11-20T10:00:00.000Z')
  expect(rangeOf(PERIODS.day, NOW)).toEqual({
    from: '2026-11-19T11:00:00.000Z',
    to: '2026-11-20T11:00:00.000Z',
  })
  expect(rangeOf(PERIODS.month, NOW).from).toBe('2026-10-22T00:00:00.000Z')
})

test('rows become groups with every step, the largest first, and their sums are exact', () => {
  const starts = stepsOf(PERIODS.day, NOW)
  const other = { ...ROW, name: null, others: true as const, accepted: 9, fees: '1' }
  const groups = groupsOf(
    [ROW, { ...ROW, start: '2026-11-20T09:00:00.000Z', fees: '9007199254740993' }, other],
    starts,
    'relayer',
  )
  expect(groups.map(({ name, sent, failed, fees }) => [name, sent, failed, fees])).toEqual([
    ['all others', 9, 2, 1n],
    ['main', 6, 4, 9_070_199_255_181_993n],
  ])
  expect(groups.every(({ steps }) => steps.length === 24)).toBe(true)
  expect(groups[1]?.steps.at(-3)).toMatchObject({ sent: 0, median: undefined })
})

test.each([
  [0, '0.0 s'],
  [2_140, '2.1 s'],
  [61_000, '61 s'],
  [600_000, '10 min'],
])('a wait of %i ms is %s', (ms, words) => {
  expect(formatWait(ms)).toBe(words)
})
