import { randomUUID } from 'node:crypto'
import type { Middleware } from './state.ts'

/** What may be echoed: nothing that could break out of a header or of a log line, and not arbitrarily long. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

/** Gives every request a name: the caller's `X-Request-Id` when it is acceptable, otherwise a new one. */
export function requestId(): Middleware {
  return function requestId(context, next) {
    const wanted = context.get('X-Request-Id')
    context.state.requestId = ACCEPTABLE.test(wanted) ? wanted : randomUUID()
    context.set('X-Request-Id', context.state.requestId)
    context.set('X-Content-Type-Options', 'nosniff')
    return next()
  }
}
