import { backoffMs } from '../../lib/time/backoff.ts'

/**
 * The first wait after a failure and the longest one, in ms. The wait doubles with each failure; a receiver that is back would notice too
 * late if it grew beyond an hour.
 */
export const BACKOFF = { baseMs: 5_000, maxMs: 3_600_000, jitter: 'equal' } as const

/** The decision after a failed try. */
export type NextTry = { readonly kind: 'again'; readonly delayMs: number } | { readonly kind: 'never' }

interface Failure {
  /** The number of tries so far, this one included. */
  readonly tries: number
  readonly now: number
  /** A failure after this time is the last, in ms since 1970. */
  readonly giveUpAt: number
  /** The wait that the receiver asked for, in ms. */
  readonly retryAfterMs?: number | undefined
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Decides when to try again: never sooner than the receiver asked, and for the last time at `giveUpAt`. */
export function nextTry({ tries, now, giveUpAt, retryAfterMs = 0, random }: Failure): NextTry {
  if (now >= giveUpAt) return { kind: 'never' }
  const delay = Math.max(retryAfterMs, backoffMs(tries, { ...BACKOFF, random }))
  return { kind: 'again', delayMs: Math.min(delay, giveUpAt - now) }
}
