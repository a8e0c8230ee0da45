interface Backoff {
  /** The longest first pause, in ms; the limit doubles with each further one. */
  readonly baseMs: number
  /** No pause is longer, in ms. */
  readonly maxMs: number
  /** Returns a number from 0 up to but not including 1, like `Math.random`. */
  readonly random: () => number
  /**
   * `full` (default) draws from zero to the exponential limit. `equal` draws from half of the limit to the limit, so that each pause is
   * longer than the one before.
   */
  readonly jitter?: 'full' | 'equal'
}

/** Returns the pause before a repetition, in ms. Jitter keeps callers that failed together from coming back together. `repetition` starts at 1. */
export function backoffMs(repetition: number, { baseMs, maxMs, random, jitter = 'full' }: Backoff): number {
  const limit = Math.min(maxMs, baseMs * 2 ** (repetition - 1))
  const fixed = jitter === 'equal' ? limit / 2 : 0
  return Math.floor(fixed + random() * (limit - fixed))
}
