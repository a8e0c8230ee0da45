import type { Clock } from '../lib/time.ts'

/** The settings of a rate limiter. */
export interface RateLimitOptions {
  /** The number of requests per second in the long run. */
  readonly perSecond: number
  /** The burst size after a pause. */
  readonly burst: number
  readonly clock: Clock
  /**
   * The number of keys in memory; the limiter forgets the key that was idle for the longest time. Default
   * 10000.
   */
  readonly maxKeys?: number
  /** Selects the keys that other processes also count. Default: none. */
  readonly isShared?: (key: string) => boolean
}

/** The quota of a key after one request. Times are whole seconds. */
export interface Quota {
  /** The time until there is a token; 0 when the request took one. */
  readonly waitSeconds: number
  /** The burst size. */
  readonly remaining: number
  /** The time until the bucket is full again. */
  readonly fullInSeconds: number
}

/** The tokens that shared keys have taken since the spending before. */
export interface Spending {
  readonly tokens: ReadonlyMap<string, number>
  /** The time since the spending before, in seconds. */
  readonly seconds: number
  /** The end of that time, by the monotonic clock. */
  readonly at: number
}

/**
 * Counts the requests of each key in this process. What other processes allow for a shared key becomes known
 * by `lower`.
 */
export interface RateLimiter {
  /** The burst size, and the whole seconds in which an empty bucket refills. */
  readonly policy: { readonly burst: number; readonly windowSeconds: number }
  /** Takes one token, if there is one. */
  take(key: string): Quota
  /**
   * Takes the further tokens that a request counts for, if there are enough. A request that counts for more
   * than a full bucket takes a full one, and the rest must be refilled before the next request: in the long
   * run the rate is exact.
   */
  takeFurther(key: string, tokens: number): Quota
  /** Returns what shared keys have taken since the last call, to report to other processes. */
  collect(): Spending
  /**
   * Lowers a bucket to what all processes together have left of it at the time `at` of a spending. It never
   * raises one: a process allows no more than it would allow alone.
   */
  lower(key: string, left: { readonly tokens: number; readonly at: number }): void
}

interface Bucket {
  tokens: number
  filledAt: number
}

/**
 * Creates token buckets, one per key. A forgotten key starts with a full bucket, so the bound on memory is
 * generous: only a caller with more addresses than `maxKeys` gains from it.
 */
export function createRateLimiter({
  perSecond,
  burst,
  clock,
  maxKeys = 10_000,
  isShared = () => false,
}: RateLimitOptions): RateLimiter {
  const buckets = new Map<string, Bucket>()
  let spent = new Map<string, number>()
  let collectedAt = clock.monotonic()

  const gainedSince = (at: number, now: number) => (Math.max(0, now - at) / 1000) * perSecond

  function refill(key: string): Bucket {
    const now = clock.monotonic()
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: now }
    bucket.tokens = Math.min(burst, bucket.tokens + gainedSince(bucket.filledAt, now))
    bucket.filledAt = now
    return bucket
  }

  /**
   * Moves the key to the end. A Map keeps the order of insertion, so the first key was idle for the longest
   * time.
   */
  function remember(key: string, bucket: Bucket): void {
    buckets.delete(key)
    buckets.set(key, bucket)
    if (buckets.size <= maxKeys) return
    const [idlest] = buckets.keys()
    if (idlest !== undefined) buckets.delete(idlest)
  }

  const secondsFor = (tokens: number) => Math.ceil(tokens / perSecond)

  /**
   * `needed` tokens have to be there, and `again` when the request comes again, because it takes its first
   * one again.
   */
  function takeFrom(
    key: string,
    { tokens, needed, again }: { readonly tokens: number; readonly needed: number; readonly again: number },
  ): Quota {
    const bucket = refill(key)
    remember(key, bucket)
    const waitSeconds = bucket.tokens < needed ? Math.max(1, secondsFor(again - bucket.tokens)) : 0
    if (waitSeconds === 0) {
      bucket.tokens -= tokens
      if (isShared(key)) spent.set(key, (spent.get(key) ?? 0) + tokens)
    }
    return {
      waitSeconds,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      fullInSeconds: secondsFor(burst - bucket.tokens),
    }
  }

  return {
    policy: { burst, windowSeconds: secondsFor(burst) },
    take: (key) => takeFrom(key, { tokens: 1, needed: 1, again: 1 }),
    takeFurther: (key, tokens) =>
      takeFrom(key, { tokens, needed: Math.min(tokens, burst - 1), again: Math.min(tokens + 1, burst) }),
    collect() {
      const [tokens, since] = [spent, collectedAt]
      spent = new Map()
      collectedAt = clock.monotonic()
      return { tokens, seconds: Math.max(0, collectedAt - since) / 1000, at: collectedAt }
    },
    lower(key, { tokens, at }) {
      const bucket = refill(key)
      remember(key, bucket)
      const left = tokens + gainedSince(at, bucket.filledAt) - (spent.get(key) ?? 0)
      bucket.tokens = Math.min(bucket.tokens, left)
    },
  }
}
