import type { Clock } from '../../src/lib/time.ts'

/** A clock that stands still until the test moves it. */
export interface TestClock extends Clock {
  /** Moves the time and ends every wait that is over by then. */
  advance(ms: number): void
  /** The number of waits under way. */
  readonly waiting: number
}

/**
 * The start of every test clock, in ms since the epoch: 2100-01-01. It lies ahead of every time that a database writes by itself, so a row
 * with the time of the database is due at once, however slow the machine is.
 */
const START_MS = Date.UTC(2100, 0, 1)

/** Never reads the machine's clock. */
export function createTestClock(start = START_MS): TestClock {
  let now = start
  const waits = new Set<{ until: number; done: () => void }>()
  return {
    now: () => now,
    monotonic: () => now,
    get waiting() {
      return waits.size
    },
    advance(ms) {
      now += ms
      for (const wait of [...waits]) if (wait.until <= now) wait.done()
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wait = {
          until: now + ms,
          done() {
            waits.delete(wait)
            signal?.removeEventListener('abort', wait.done)
            resolve()
          },
        }
        waits.add(wait)
        signal?.addEventListener('abort', wait.done, { once: true })
      }),
  }
}

/** A clock that never makes anyone wait: a wait moves the time and is over. */
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

/** The machine's clock with an offset: a test can end waits of minutes at once, and make the time of day step. */
export interface AdjustableClock extends Clock {
  /** Moves the time forward and ends every wait that is over by then. */
  advance(ms: number): void
  /** The time of day steps; no wait ends by it. */
  step(ms: number): void
  /** The lead over the machine's clock, in ms. */
  readonly offsetMs: number
}

/** Starts `offsetMs` ahead of the machine, to go on where the clock of an earlier process was. */
export function createAdjustableClock(offsetMs = 0): AdjustableClock {
  let offset = offsetMs
  const waits = new Set<() => void>()
  let advanced = 0
  const monotonic = () => performance.now() + advanced
  return {
    now: () => Date.now() + offset,
    monotonic,
    get offsetMs() {
      return offset
    },
    advance(ms) {
      offset += ms
      advanced += ms
      for (const arm of [...waits]) arm()
    },
    step(ms) {
      offset += ms
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const until = monotonic() + ms
        let timer: NodeJS.Timeout | undefined
        const done = () => {
          clearTimeout(timer)
          waits.delete(arm)
          signal?.removeEventListener('abort', done)
          resolve()
        }
        const arm = () => {
          clearTimeout(timer)
          timer = setTimeout(done, Math.max(0, until - monotonic()))
        }
        waits.add(arm)
        signal?.addEventListener('abort', done, { once: true })
        arm()
      }),
  }
}
