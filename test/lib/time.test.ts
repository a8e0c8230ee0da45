import { expect, test } from 'vitest'
import { readRetryAfter } from '../../src/lib/http/http-client.ts'
import { backoffMs, createSteadyTime, withTimeout } from '../../src/lib/time.ts'
import { createTestClock } from '../support/clock.ts'

test('within gives what comes in time, and waits no longer', async () => {
  const clock = createTestClock()
  expect(await withTimeout(clock, 5_000, Promise.resolve('done'))).toBe('done')
  expect(clock.waiting).toBe(0)
})

test('within gives nothing when the time is up, and a later failure is harmless', async () => {
  const clock = createTestClock()
  const work = Promise.withResolvers<string>()
  const waiting = withTimeout(clock, 5_000, work.promise)
  clock.advance(4_999)
  expect(clock.waiting).toBe(1)
  clock.advance(1)
  expect(await waiting).toBeUndefined()
  work.reject(new Error('too late'))
})

test('within fails as the work does', async () => {
  const clock = createTestClock()
  await expect(withTimeout(clock, 5_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(clock.waiting).toBe(0)
})

const HOUR_MS = 3_600_000

function setUp() {
  const machine = { wall: 1_000_000, elapsed: 0 }
  const now = createSteadyTime({ wall: () => machine.wall, monotonic: () => machine.elapsed })
  /** Time passes, and the clock of the machine steps. */
  const pass = (ms: number, step = 0) => {
    machine.elapsed += ms
    machine.wall += ms + step
    return now()
  }
  return { pass }
}

test.each([HOUR_MS, -HOUR_MS])('a step of %i ms that is taken back is never seen', (step) => {
  const { pass } = setUp()
  expect(pass(500)).toBe(1_000_500)
  expect(pass(500, step)).toBe(1_001_000)
  expect(pass(9_000)).toBe(1_010_000)
  expect(pass(500, -step)).toBe(1_010_500)
  expect(pass(60_000)).toBe(1_070_500)
})

test.each([HOUR_MS, -HOUR_MS])('a step of %i ms that lasts is followed after ten seconds', (step) => {
  const { pass } = setUp()
  expect(pass(1, step)).toBe(1_000_001)
  expect(pass(9_999)).toBe(1_010_000)
  expect(pass(1)).toBe(1_010_001 + step)
})

test('a second step starts the ten seconds again', () => {
  const { pass } = setUp()
  pass(1, HOUR_MS)
  expect(pass(9_000, HOUR_MS)).toBe(1_009_001)
  expect(pass(9_000)).toBe(1_018_001)
  expect(pass(1_000)).toBe(1_019_001 + 2 * HOUR_MS)
})

test('a correction of less than a second is followed immediately', () => {
  const { pass } = setUp()
  expect(pass(100, -999)).toBe(999_101)
})

test.each([
  { jitter: undefined, repetition: 1, random: 0, want: 0 },
  { jitter: undefined, repetition: 1, random: 0.5, want: 50 },
  { jitter: 'full', repetition: 2, random: 0.5, want: 100 },
  { jitter: 'full', repetition: 3, random: 0.999, want: 399 },
  { jitter: 'full', repetition: 3_000, random: 0.5, want: 1_000 },
  { jitter: 'equal', repetition: 1, random: 0, want: 50 },
  { jitter: 'equal', repetition: 2, random: 0.5, want: 150 },
  { jitter: 'equal', repetition: 3_000, random: 0, want: 1_000 },
] as const)(
  '$jitter jitter, repetition $repetition at random $random: $want ms',
  ({ repetition, random, want, jitter }) => {
    const options = { baseMs: 100, maxMs: 2_000, random: () => random }
    expect(backoffMs(repetition, jitter === undefined ? options : { ...options, jitter })).toBe(want)
  },
)

const NOW = Date.parse('Fri, 20 Nov 2026 12:00:00 GMT')
const DAY = 86_400_000

test.each([
  { header: '0', want: 0 },
  { header: ' 120 ', want: 120_000 },
  { header: 'Fri, 20 Nov 2026 12:00:30 GMT', want: 30_000 },
  { header: 'Friday, 20-Nov-26 12:00:30 GMT', want: 30_000 },
  { header: 'Fri Nov 20 12:00:30 2026', want: 30_000 },
  { header: 'Fri, 20 Nov 2026 11:00:00 GMT', want: 0 },
  { header: '99999999999999999999', want: DAY },
  { header: 'Fri, 20 Nov 2037 11:00:00 GMT', want: DAY },
  { header: 'Fri, 99 Nov 2026 12:00:30 GMT', want: undefined },
  { header: 'Fri, 20 Nov 2026 12:00:30 +0200', want: undefined },
  { header: 'Nov 20 2026', want: undefined },
  { header: '1.5', want: undefined },
  { header: '-5', want: undefined },
  { header: 'soon', want: undefined },
  { header: '1e3', want: undefined },
  { header: '', want: undefined },
  { header: undefined, want: undefined },
])('Retry-After: $header is $want ms', ({ header, want }) => {
  expect(readRetryAfter(header, NOW)).toBe(want)
})
