import { expect, test } from 'vitest'
import { backoffMs } from '../../src/lib/backoff.ts'

test.each([
  { repetition: 1, random: 0, want: 0 },
  { repetition: 1, random: 0.5, want: 50 },
  { repetition: 2, random: 0.5, want: 100 },
  { repetition: 3, random: 0.999, want: 399 },
  { repetition: 30, random: 0.5, want: 1_000 },
])('repetition $repetition at random $random: $want ms', ({ repetition, random, want }) => {
  expect(backoffMs(repetition, { baseMs: 100, maxMs: 2_000, random: () => random })).toBe(want)
})
