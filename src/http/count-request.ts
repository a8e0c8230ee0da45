import { AppError } from '../errors.ts'
import type { Quota, RateLimiter } from './rate-limit.ts'
import type { HttpContext } from './state.ts'

/** A request and the key under which it is counted. */
interface CountedRequest {
  readonly context: HttpContext
  readonly key: string
}

/**
 * Counts a request, and tells its sender the rest of the quota in the headers of draft-ietf-httpapi-ratelimit-headers-10.
 *
 * @throws AppError `rate_limited` when the bucket of the key is empty
 */
export function countRequest(limiter: RateLimiter, { context, key }: CountedRequest): void {
  const quota = limiter.take(key)
  tell(limiter, context, quota)
  if (quota.waitSeconds > 0) throw limited(`Too many requests. Try again in ${quota.waitSeconds} s.`, quota)
}

/**
 * Counts what a request holds besides the first unit, for which it was counted already.
 *
 * @throws AppError `rate_limited` when the bucket has not so much left
 */
export function countFurther(limiter: RateLimiter, { context, key }: CountedRequest, units: number): void {
  if (units <= 0) return
  const quota = limiter.takeFurther(key, units)
  tell(limiter, context, quota)
  if (quota.waitSeconds === 0) return
  const left = `it counts for ${units + 1}, and ${quota.remaining + 1} were left`
  throw limited(`Too many at once: ${left}. Nothing was done; try again in ${quota.waitSeconds} s.`, quota)
}

function tell(limiter: RateLimiter, { res }: HttpContext, quota: Quota): void {
  const { burst, windowSeconds } = limiter.policy
  res.setHeader('RateLimit-Policy', `"requests";q=${burst};w=${windowSeconds}`)
  res.setHeader('RateLimit', `"requests";r=${quota.remaining};t=${resetOf(quota)}`)
}

function limited(detail: string, { waitSeconds }: Quota): AppError {
  return new AppError('rate_limited', detail, { retryAfterSeconds: waitSeconds })
}

/** The draft wants the same time as in `Retry-After`, when there is one. */
function resetOf({ waitSeconds, fullInSeconds }: Quota): number {
  return waitSeconds === 0 ? fullInSeconds : waitSeconds
}
