import { expect, test } from 'vitest'
import { isDue, LONGEST_WAIT_MS, WATCHED_MS } from '../../../src/transactions/model/due.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000

test.each([
  ['the present moment', 0, true],
  ['a moment later', 1, false],
  ['the longest wait', LONGEST_WAIT_MS, false],
  ['more than the longest wait', LONGEST_WAIT_MS + 1, true],
] as const)('a transaction that runs next at %s', (_name, ahead, want) => {
  const createdAt = new Date(NOW - HOUR_MS)
  expect(isDue({ nextRunAt: new Date(NOW + ahead), createdAt, status: 'sent' }, NOW)).toBe(want)
})

test('a pending one that has never waited is due whatever the clock said at its acceptance', () => {
  const at = new Date(NOW + 1_000)
  expect(isDue({ nextRunAt: at, createdAt: at, status: 'pending' }, NOW)).toBe(true)
  expect(isDue({ nextRunAt: at, createdAt: at, status: 'sent' }, NOW)).toBe(false)
})

test('the wait of a watched transaction counts as a wait', () => {
  expect(WATCHED_MS).toBeLessThanOrEqual(LONGEST_WAIT_MS)
})
