import { AppError } from '../errors.ts'
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

/** Counts the requests of each key. The buckets live in this process only: several processes allow several times the rate. */
export interface RateLimiter {
  /** Takes one token. Returns 0 on success, otherwise the whole seconds until there is a token. */
  take(key: string): number
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

  return {
    take(key) {
      const bucket = refill(key)
      remember(key, bucket)
      if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
      bucket.tokens -= 1
      return 0
    },
  }
}

/** @throws AppError `rate_limited` when the bucket of the key is empty */
export function countRequest(limiter: RateLimiter, key: string): void {
  const seconds = limiter.take(key)
  if (seconds === 0) return
  const detail = `Too many requests. Try again in ${seconds} s.`
  throw new AppError('rate_limited', detail, { retryAfterSeconds: seconds })
}
