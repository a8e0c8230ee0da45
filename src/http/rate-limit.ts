import type { Clock } from '../lib/time/clock.ts'

/** The settings of a rate limiter. */
export interface RateLimitOptions {
  /** The number of requests per second in the long run. */
  readonly perSecond: number
  /** The number of requests that can come at once after a pause. */
  readonly burst: number
  readonly clock: Clock
  /** The number of keys in memory; the limiter forgets the key that was idle for the longest time. Default 10000. */
  readonly maxKeys?: number
}

/** The quota of a key after one request. Times are whole seconds. */
export interface Quota {
  /** The time until there is a token; 0 when the request took one. */
  readonly waitSeconds: number
  /** The requests that can be sent at once. */
  readonly remaining: number
  /** The time until the bucket is full again. */
  readonly fullInSeconds: number
}

/** Counts the requests of each key. The buckets live in this process only: several processes allow several times the rate. */
export interface RateLimiter {
  /** The requests that can come at once, and the whole seconds in which an empty bucket is full again. */
  readonly policy: { readonly burst: number; readonly windowSeconds: number }
  /** Takes one token, if there is one. */
  take(key: string): Quota
}

interface Bucket {
  tokens: number
  filledAt: number
}

/**
 * Creates token buckets, one per key. A forgotten key starts with a full bucket, so the bound on memory is generous: only a
 * caller with more addresses than `maxKeys` gains from it.
 */
export function createRateLimiter({
  perSecond,
  burst,
  clock,
  maxKeys = 10_000,
}: RateLimitOptions): RateLimiter {
  const buckets = new Map<string, Bucket>()

  function refill(key: string): Bucket {
    const now = clock.monotonic()
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: now }
    const gained = (Math.max(0, now - bucket.filledAt) / 1000) * perSecond
    bucket.tokens = Math.min(burst, bucket.tokens + gained)
    bucket.filledAt = now
    return bucket
  }

  /** Moves the key to the end. A Map keeps the order of insertion, so the first key was idle for the longest time. */
  function remember(key: string, bucket: Bucket): void {
    buckets.delete(key)
    buckets.set(key, bucket)
    if (buckets.size <= maxKeys) return
    const [idlest] = buckets.keys()
    if (idlest !== undefined) buckets.delete(idlest)
  }

  const secondsFor = (tokens: number) => Math.ceil(tokens / perSecond)

  return {
    policy: { burst, windowSeconds: secondsFor(burst) },
    take(key) {
      const bucket = refill(key)
      remember(key, bucket)
      const waitSeconds = bucket.tokens < 1 ? Math.max(1, secondsFor(1 - bucket.tokens)) : 0
      if (waitSeconds === 0) bucket.tokens -= 1
      return {
        waitSeconds,
        remaining: Math.floor(bucket.tokens),
        fullInSeconds: secondsFor(burst - bucket.tokens),
      }
    },
  }
}
