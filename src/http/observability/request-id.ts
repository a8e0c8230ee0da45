import { randomUUID } from 'node:crypto'
import type { Middleware } from '../state.ts'

/** Accepts only ids that cannot break out of a header or a log line, with a bounded length. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

/** Gives every request an id: the caller's `X-Request-Id` when it is acceptable, otherwise a new one. */
export function requestId(): Middleware {
  return function requestId(context, next) {
    const wanted = context.get('X-Request-Id')
    context.state.requestId = ACCEPTABLE.test(wanted) ? wanted : randomUUID()
    context.set('X-Request-Id', context.state.requestId)
    context.set('X-Content-Type-Options', 'nosniff')
    return next()
  }
}
