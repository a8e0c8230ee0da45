import type { Clock } from '../../src/lib/time.ts'

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
