interface Backoff {
  /** The longest first pause, in ms; each further one may be twice as long. */
  readonly baseMs: number
  /** No pause is longer, in ms. */
  readonly maxMs: number
  /** From 0 up to but not including 1, as `Math.random`. */
  readonly random: () => number
}

/**
 * The pause before a repetition, in ms: anything between nothing and the exponential limit ("full jitter"), so that
 * callers who failed together do not come back together. `repetition` is 1 for the first.
 */
export function backoffMs(repetition: number, { baseMs, maxMs, random }: Backoff): number {
  return Math.floor(random() * Math.min(maxMs, baseMs * 2 ** (repetition - 1)))
}
