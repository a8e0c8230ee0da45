import { AppError } from '../errors.ts'
import type { Middleware } from './state.ts'

/** Refuses a request without `Host`, which RFC 9112 §3.2 calls malformed. Node would refuse it without our failure body. */
export function requireHost(): Middleware {
  return function requireHost(context, next) {
    if (context.req.httpVersion === '1.1' && context.headers.host === undefined) {
      throw new AppError('invalid_request', 'The request has no Host header.')
    }
    return next()
  }
}
