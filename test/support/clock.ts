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
