import type { Clock } from '../../src/lib/time.ts'

/** A clock that never makes anybody wait: a wait moves the time and is over. */
export interface HurriedClock extends Clock {
  /** Every wait that was asked for, in ms. */
  readonly waits: readonly number[]
  advance(ms: number): void
}

export function createHurriedClock(start = Date.parse('2026-01-01T00:00:00Z')): HurriedClock {
  let now = start
  const waits: number[] = []
  return {
    waits,
    now: () => now,
    monotonic: () => now,
    advance: (ms) => {
      now += ms
    },
    sleep: async (ms) => {
      waits.push(ms)
      now += ms
    },
  }
}
