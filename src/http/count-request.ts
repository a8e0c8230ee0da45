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
  const { burst, windowSeconds } = limiter.policy
  context.res.setHeader('RateLimit-Policy', `"requests";q=${burst};w=${windowSeconds}`)
  context.res.setHeader('RateLimit', `"requests";r=${quota.remaining};t=${resetOf(quota)}`)
  if (quota.waitSeconds === 0) return
  const detail = `Too many requests. Try again in ${quota.waitSeconds} s.`
  throw new AppError('rate_limited', detail, { retryAfterSeconds: quota.waitSeconds })
}

/** The draft wants the same time as in `Retry-After`, when there is one. */
function resetOf({ waitSeconds, fullInSeconds }: Quota): number {
  return waitSeconds === 0 ? fullInSeconds : waitSeconds
}
