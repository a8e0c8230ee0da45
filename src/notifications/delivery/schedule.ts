/** The first wait after a failure, in ms; each further one is twice as long. */
const FIRST_DELAY_MS = 5_000

/** The longest wait, in ms. Longer, and a receiver that is back would not notice for too long. */
const LONGEST_DELAY_MS = 3_600_000

/** What follows a failed try. */
export type NextTry = { readonly kind: 'again'; readonly delayMs: number } | { readonly kind: 'never' }

interface Failure {
  /** How often it was tried, this one included. */
  readonly tries: number
  readonly now: number
  /** A failure after this time is the last, in ms since 1970. */
  readonly giveUpAt: number
  /** How long the receiver asked to wait. */
  readonly retryAfterMs?: number | undefined
  /** From 0 to 1. */
  readonly random: number
}

/**
 * Twice as long after each failure, half of it random, so that what failed together does not come back together; never
 * sooner than the receiver asked. What would come after `giveUpAt` comes at that time: the last chance.
 */
export function nextTry({ tries, now, giveUpAt, retryAfterMs = 0, random }: Failure): NextTry {
  if (now >= giveUpAt) return { kind: 'never' }
  const whole = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(tries - 1, 20))
  const delay = Math.max(retryAfterMs, (whole * (1 + random)) / 2)
  return { kind: 'again', delayMs: Math.min(delay, giveUpAt - now) }
}

/** `Retry-After` (RFC 9110, 10.2.3) as ms from now: whole seconds, or a date. Undefined when it is neither. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  // Date.parse alone takes much for a date that is none.
  const date = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
