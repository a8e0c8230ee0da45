import { randomUUID } from 'node:crypto'
import type { Middleware } from '../state.ts'

/** Accepts only ids that cannot break out of a header or a log line, with a bounded length. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

/** Gives every request an id: the caller's `X-Request-Id` when it is acceptable, otherwise a new one. */
export function requestId(): Middleware {
  return function requestId({ req, res, state }, next) {
    const wanted = req.headers['x-request-id']
    state.requestId = typeof wanted === 'string' && ACCEPTABLE.test(wanted) ? wanted : randomUUID()
    res.setHeader('X-Request-Id', state.requestId)
    res.setHeader('X-Content-Type-Options', 'nosniff')
    return next()
  }
}
