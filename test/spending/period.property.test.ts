import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstStep, SHAPES, stepOf } from '../../src/spending/budget.ts'
import { PERIODS } from '../../src/spending/rules.ts'

const START_MS = Date.UTC(2026, 0, 1)
const YEAR_MS = 366 * 24 * 60 * 60_000

test('what was spent counts for a whole period, and for at most one step more', () => {
  const ages = fc.oneof(
    fc.nat(40 * 24 * 60 * 60_000),
    // Near the end of a period, where it matters.
    fc
      .record({ period: fc.constantFrom(...PERIODS), off: fc.integer({ min: -2, max: 2 }), steps: fc.nat(2) })
      .map(({ period, off, steps }) => SHAPES[period].lengthMs + steps * SHAPES[period].stepMs + off),
  )
  fc.assert(
    fc.property(fc.constantFrom(...PERIODS), fc.nat(YEAR_MS), ages, (period, offset, age) => {
      const at = START_MS + offset
      const now = new Date(at + age)
      const counts = stepOf(period, new Date(at)) >= firstStep(period, now)
      const { lengthMs, stepMs } = SHAPES[period]
      if (age <= lengthMs) expect(counts).toBe(true)
      if (age >= lengthMs + stepMs) expect(counts).toBe(false)
    }),
  )
})

test('every time is in the step that began last', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PERIODS), fc.nat(YEAR_MS), (period, offset) => {
      const at = START_MS + offset
      const step = stepOf(period, new Date(at)).getTime()
      expect(step).toBeLessThanOrEqual(at)
      expect(at - step).toBeLessThan(SHAPES[period].stepMs)
      expect(stepOf(period, new Date(step)).getTime()).toBe(step)
    }),
  )
})
