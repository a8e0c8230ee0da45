/** The one source of time, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch: the time of records and of chains. It can step in both directions. */
  now(): number
  /**
   * Milliseconds since an arbitrary start. It never steps, so intervals inside this process are measured with
   * it.
   */
  monotonic(): number
  /**
   * Waits `ms` milliseconds, or less when `signal` is aborted. Never rejects: the caller checks its signal,
   * so that "woken early" and "time is up" take the same path.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/**
 * Returns the result of the work, or undefined if that takes longer than `ms` milliseconds; the work
 * continues then.
 */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const done = new AbortController()
  try {
    return await Promise.race([work, clock.sleep(ms, done.signal).then(() => undefined)])
  } finally {
    done.abort()
  }
}

/** The last second of the year 9999, the last one that RFC 3339 and the database can write alike. */
const MAX_UNIX_SECONDS = 253_402_300_799n

/**
 * Returns the time of a block that a node told in seconds since the Unix epoch; undefined for none, and for a
 * number that no date has.
 */
export function fromUnixSeconds(seconds: bigint | undefined): Date | undefined {
  if (seconds === undefined || seconds < 0n || seconds > MAX_UNIX_SECONDS) return undefined
  return new Date(Number(seconds) * 1_000)
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

interface TimeSources {
  /** The time of day, in ms since the Unix epoch. It can step. */
  readonly wall: () => number
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number
}

/**
 * A larger difference between the two clocks is a step, in ms. Time synchronisation removes smaller ones all
 * the time.
 */
const STEP_MS = 1_000

/**
 * A step is followed after this time, in ms. A shorter one is a fault: it would date records and end
 * transactions by a wrong time.
 */
const LASTING_MS = 10_000

/** Creates a time of day that follows small corrections immediately, and a jump only after it has lasted. */
export function createSteadyTime({ wall, monotonic }: TimeSources): () => number {
  let offset = wall() - monotonic()
  let step: { readonly offset: number; readonly since: number } | undefined
  return () => {
    const elapsed = monotonic()
    const seen = wall() - elapsed
    if (Math.abs(seen - offset) < STEP_MS) {
      offset = seen
      step = undefined
    } else if (step === undefined || Math.abs(seen - step.offset) >= STEP_MS) {
      step = { offset: seen, since: elapsed }
    } else if (elapsed - step.since >= LASTING_MS) {
      offset = seen
      step = undefined
    }
    return Math.round(elapsed + offset)
  }
}

interface Backoff {
  /** The longest first pause, in ms; the limit doubles with each further one. */
  readonly baseMs: number
  /** No pause is longer, in ms. */
  readonly maxMs: number
  /** Returns a number from 0 up to but not including 1, like `Math.random`. */
  readonly random: () => number
  /**
   * `full` (default) draws from zero to the exponential limit. `equal` draws from half of the limit to the
   * limit, so that each pause is longer than the one before.
   */
  readonly jitter?: 'full' | 'equal'
}

/**
 * Returns the pause before a repetition, in ms. Jitter keeps callers that failed together from coming back
 * together. `repetition` starts at 1.
 */
export function backoffMs(repetition: number, { baseMs, maxMs, random, jitter = 'full' }: Backoff): number {
  const limit = Math.min(maxMs, baseMs * 2 ** (repetition - 1))
  const fixed = jitter === 'equal' ? limit / 2 : 0
  return Math.floor(fixed + random() * (limit - fixed))
}
