/**
 * A failure of an endpoint. `down`: broken connection, HTTP 5xx, unreadable answer · `slow`: no answer in time ·
 * `barred`: it refuses us (HTTP 401, 403, 404, 410) · `limited`: it asked for a pause (HTTP 429 and similar answers).
 */
export interface Failure {
  readonly kind: 'down' | 'slow' | 'barred' | 'limited'
  readonly detail: string
  /** The pause that the endpoint asked for (`Retry-After`), in ms. */
  readonly retryAfterMs?: number
  /** No connection opened, so the request cannot be the cause. */
  readonly unreachable?: true
}

/** Failures within this time count together, in ms. */
const WINDOW_MS = 60_000

/** The endpoint rests after this many failures within the window; a single failure is noise. */
const FAILURE_LIMIT = 3

/** The first rest, in ms; each failed trial doubles the next one. */
const REST_MS = 5_000

/**
 * The first and the longest rest of an endpoint that asked for a pause without a duration, in ms. Most limits are per second, and
 * nothing moves meanwhile where it is the only endpoint.
 */
const LIMITED_REST_MS = 1_000
const MAX_LIMITED_REST_MS = 8_000

/** The longest rest, in ms, whatever `Retry-After` says: a wrong header must not switch an endpoint off for a day. */
const MAX_REST_MS = 300_000

/** The record of one endpoint. It is a value: each report makes a new one. */
export interface Health {
  /** The times of recent failures, in ms of the monotonic clock. */
  readonly failures: readonly number[]
  /** The endpoint gets no request before this time, in ms of the monotonic clock. */
  readonly restsUntil: number
  /** The endpoint asked for the rest, so it gets no request even as a last resort. */
  readonly byWish: boolean
  /** The number of rests since its last good answer. Above 0 after a rest, the endpoint is on trial. */
  readonly rests: number
  readonly lastError?: string
}

/** The record of an endpoint without failures. */
export const HEALTHY: Health = { failures: [], restsUntil: 0, byWish: false, rests: 0 }

/** `trial`: the rest is over, and one request at a time tests the endpoint. */
export type Condition = 'well' | 'trial' | 'resting'

/** Decides whether the endpoint may be asked now. */
export function conditionOf({ restsUntil, rests }: Health, now: number): Condition {
  if (now < restsUntil) return 'resting'
  return rests > 0 ? 'trial' : 'well'
}

/** Records an answer. Failures within the window still count, or an endpoint that fails half of the time would never rest. */
export function afterAnswer(health: Health, now: number): Health {
  return conditionOf(health, now) === 'well' ? health : HEALTHY
}

/** Records a failure. After a time-out or a refusal the endpoint rests at once: each further one would cost a caller its whole time. */
export function afterFailure(health: Health, failure: Failure, now: number): Health {
  const failures = [...health.failures.filter((at) => now - at < WINDOW_MS), now]
  const failed = { ...health, failures, lastError: failure.detail }
  const rest = failure.kind !== 'down' || failures.length >= FAILURE_LIMIT || health.rests > 0
  if (!rest) return failed
  const byWish = failure.kind === 'limited' || failure.retryAfterMs !== undefined
  // Concurrent requests fail together, so only a failure after a rest makes the next rest longer.
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
