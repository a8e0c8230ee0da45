import { type Authenticate, requireCredential } from '../auth.ts'
import { countRequest } from '../count-request.ts'
import type { RateLimiter } from '../rate-limit.ts'
import type { HttpContext } from '../state.ts'

/**
 * Protects everything outside the operations of the contract. An unauthenticated caller learns neither which paths exist nor
 * which methods they have.
 *
 * @throws AppError `rate_limited` or `unauthorized`
 */
export type Guard = (context: HttpContext) => void

/** Creates the guard from the same keys and buckets that the operations use. */
export function createGuard(authenticate: Authenticate, limiter: RateLimiter): Guard {
  return (context) => {
    const caller = authenticate(context)
    countRequest(limiter, { context, key: caller.limitKey })
    requireCredential(caller)
  }
}
