import { createSteadyTime } from './steady-time.ts'

/** The one source of time, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch: the time of records and of chains. It can step in both directions. */
  now(): number
  /** Milliseconds since an arbitrary start. It never steps, so intervals inside this process are measured with it. */
  monotonic(): number
  /**
   * Waits `ms` milliseconds, or less when `signal` is aborted. Never rejects: the caller checks its signal, so that
   * "woken early" and "time is up" take the same path.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Returns the result of the work, or undefined when that takes longer than `ms` milliseconds; the work continues then. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const done = new AbortController()
  try {
    return await Promise.race([work, clock.sleep(ms, done.signal).then(() => undefined)])
  } finally {
    done.abort()
  }
}

/** The machine's own clock. Its time of day ignores a step until the step has lasted. */
export const systemClock: Clock = {
  now: createSteadyTime({ wall: () => Date.now(), monotonic: () => performance.now() }),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}
