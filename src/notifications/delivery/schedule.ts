import { backoffMs } from '../../lib/time/backoff.ts'

/**
 * The first wait after a failure and the longest one, in ms. The wait doubles with each failure; a receiver that is back would notice too
 * late if it grew beyond an hour.
 */
export const BACKOFF = { baseMs: 5_000, maxMs: 3_600_000, jitter: 'equal' } as const

/**
 * So many tries fail before a delivery is given up, whatever the clock says: they take 40 to 90 minutes, and a clock that steps forward by a day ends
 * nothing before. The shortest window, an hour, has as many, so with a clock that is right this changes nothing.
 */
export const LEAST_TRIES = 11

/** The decision after a failed try. */
export type NextTry = { readonly kind: 'again'; readonly delayMs: number } | { readonly kind: 'never' }

interface Failure {
  /** The number of tries so far, this one included. */
  readonly tries: number
  readonly now: number
  /** A failure after this time is the last, in ms since 1970, if `LEAST_TRIES` have failed, or the receiver fails for long. */
  readonly giveUpAt: number
  /** The receiver has failed for everything for long, by a clock that does not step. */
  readonly failsForLong?: boolean
  /** The wait that the receiver asked for, in ms. */
  readonly retryAfterMs?: number | undefined
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Decides when to try again: never sooner than the receiver asked, and for the last time at `giveUpAt`. Pure, but for `random`. */
export function nextTry({
  tries,
  now,
  giveUpAt,
  failsForLong = false,
  retryAfterMs = 0,
  random,
}: Failure): NextTry {
  if (now >= giveUpAt && (tries >= LEAST_TRIES || failsForLong)) return { kind: 'never' }
  const delay = Math.max(retryAfterMs, backoffMs(tries, { ...BACKOFF, random }))
  return { kind: 'again', delayMs: now >= giveUpAt ? delay : Math.min(delay, giveUpAt - now) }
}
