import { AppError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'

export interface RateLimitOptions {
  /** Requests per second in the long run. */
  readonly perSecond: number
  /** Requests that may come at once after a pause. */
  readonly burst: number
  readonly clock: Clock
  /** How many keys are remembered; the one that was quiet for longest is forgotten first. Default 10000. */
  readonly maxKeys?: number
}

/** Counts requests per key. */
export interface RateLimiter {
  /** Takes one token. 0 when there was one, otherwise the whole seconds until there is. */
  take(key: string): number
}

interface Bucket {
  tokens: number
  filledAt: number
}

/**
 * Token buckets, one per key. A forgotten key starts with a full bucket, so the bound on memory is generous: only somebody
 * with more addresses than `maxKeys` gains from it.
 */
export function createRateLimiter({
  perSecond,
  burst,
  clock,
  maxKeys = 10_000,
}: RateLimitOptions): RateLimiter {
  const buckets = new Map<string, Bucket>()

  function refill(key: string): Bucket {
    const now = clock.now()
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: now }
    const gained = (Math.max(0, now - bucket.filledAt) / 1000) * perSecond
    bucket.tokens = Math.min(burst, bucket.tokens + gained)
    bucket.filledAt = now
    return bucket
  }

  /** A Map keeps the order of insertion, so the first key is the one that was quiet for longest. */
  function remember(key: string, bucket: Bucket): void {
    buckets.delete(key)
    buckets.set(key, bucket)
    if (buckets.size <= maxKeys) return
    const [quietest] = buckets.keys()
    if (quietest !== undefined) buckets.delete(quietest)
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

/** Makes the failure for a caller whose bucket is empty. */
export function rateLimited(retryAfterSeconds: number): AppError {
  const detail = `Too many requests. Try again in ${retryAfterSeconds} s.`
  return new AppError('rate_limited', detail, { retryAfterSeconds })
}
