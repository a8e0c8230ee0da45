import { expect, test } from 'vitest'
import { backoffMs } from '../../src/lib/time.ts'

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
