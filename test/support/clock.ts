import type { Clock } from '../../src/lib/clock.ts'

/** A clock that stands still until the test moves it. */
export interface TestClock extends Clock {
  /** Moves the time and ends every wait that is over by then. */
  advance(ms: number): void
  /** The number of waits under way. */
  readonly waiting: number
}

/** Starts at the machine's time, because rows in a database carry that of the database. */
export function createTestClock(start = Date.now()): TestClock {
  let now = start
  const waits = new Set<{ until: number; done: () => void }>()
  return {
    now: () => now,
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
