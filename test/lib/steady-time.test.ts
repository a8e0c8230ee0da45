import { expect, test } from 'vitest'
import { createSteadyTime } from '../../src/lib/time.ts'

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

test('a correction of less than a second is followed at once', () => {
  const { pass } = setUp()
  expect(pass(100, -999)).toBe(999_101)
})
