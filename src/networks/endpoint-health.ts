/**
 * What went wrong at an endpoint. `down`: broken connection, HTTP 5xx, something unreadable · `slow`: no answer in time ·
 * `barred`: it will not talk to us (HTTP 401, 403, 404, 410) · `limited`: it asked for a pause (HTTP 429 and its kin).
 */
export interface Failure {
  readonly kind: 'down' | 'slow' | 'barred' | 'limited'
  readonly detail: string
  /** How long it wants to be left alone, in ms, where it said so (`Retry-After`). */
  readonly retryAfterMs?: number
  /** No connection could be opened, so it cannot be the doing of what was asked. */
  readonly unreachable?: true
}

/** Failures count together when they lie within this time, in ms. */
const WINDOW_MS = 60_000

/** So many failures in the window end in a rest. One alone is weather. */
const FAILURE_LIMIT = 3

/** The first rest, in ms; each one that a trial did not end well is twice as long. */
const REST_MS = 5_000

/**
 * The first, and the longest, rest of an endpoint that asked for one without saying how long, in ms. Limits are mostly
 * per second; where it is the only endpoint, nothing moves meanwhile.
 */
const LIMITED_REST_MS = 1_000
const MAX_LIMITED_REST_MS = 8_000

/** No rest is longer, in ms, whatever `Retry-After` says: a mistaken header must not switch an endpoint off for a day. */
const MAX_REST_MS = 300_000

/** How one endpoint has been doing. A value: each report makes a new one. */
export interface Health {
  /** When it failed lately, in ms since the epoch. */
  readonly failures: readonly number[]
  /** It is not asked before this time, in ms since the epoch. */
  readonly restsUntil: number
  /** The rest is its own wish: not even as a last resort is it asked. */
  readonly byWish: boolean
  /** Rests since it last answered well. Above 0 with the rest over, it is on trial. */
  readonly rests: number
  readonly lastError?: string
}

export const HEALTHY: Health = { failures: [], restsUntil: 0, byWish: false, rests: 0 }

/** `trial`: the rest is over, and one request at a time finds out whether it is well again. */
export type Condition = 'well' | 'trial' | 'resting'

export function conditionOf({ restsUntil, rests }: Health, now: number): Condition {
  if (now < restsUntil) return 'resting'
  return rests > 0 ? 'trial' : 'well'
}

/** It answered. What failed within the window stays counted, or one that fails half of the time would never rest. */
export function afterAnswer(health: Health, now: number): Health {
  return conditionOf(health, now) === 'well' ? health : HEALTHY
}

/** It did not answer. A time-out costs each caller its whole patience, and who bars us once does so again: rest at once. */
export function afterFailure(health: Health, failure: Failure, now: number): Health {
  const failures = [...health.failures.filter((at) => now - at < WINDOW_MS), now]
  const failed = { ...health, failures, lastError: failure.detail }
  const rest = failure.kind !== 'down' || failures.length >= FAILURE_LIMIT || health.rests > 0
  if (!rest) return failed
  const byWish = failure.kind === 'limited' || failure.retryAfterMs !== undefined
  // Requests that were on their way together fail together: only a failure after the rest makes the next one longer.
  const rests = conditionOf(health, now) === 'resting' ? health.rests : health.rests + 1
  const factor = 2 ** Math.min(rests - 1, 16)
  const grown = byWish ? Math.min(MAX_LIMITED_REST_MS, LIMITED_REST_MS * factor) : REST_MS * factor
  const ms = Math.min(MAX_REST_MS, failure.retryAfterMs ?? grown)
  return {
    ...failed,
    rests,
    restsUntil: Math.max(health.restsUntil, now + ms),
    byWish: byWish || (health.byWish && now < health.restsUntil),
  }
}
