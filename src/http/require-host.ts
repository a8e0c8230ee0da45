import { AppError } from '../errors.ts'
import type { Middleware } from './state.ts'

/** RFC 9112 §3.2: a request without `Host` is malformed. Node would say so itself, but without our failure body. */
export function requireHost(): Middleware {
  return function requireHost(context, next) {
    if (context.req.httpVersion === '1.1' && context.headers.host === undefined) {
      throw new AppError('invalid_request', 'The request has no Host header.')
    }
    return next()
  }
}
