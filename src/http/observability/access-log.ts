import type { Logger } from 'pino'
import type { Clock } from '../../lib/time/clock.ts'
import { logFields, type Middleware } from '../state.ts'

/** Writes one line per request. The path carries ids but no secrets; the query is left out, because callers put anything there. */
export function accessLog({ log, clock }: { log: Logger; clock: Clock }): Middleware {
  // None of these fields can hold a secret, and redaction would cost more than the line itself.
  const lines = log.child({}, { redact: [] })
  return async function accessLog(context, next) {
    const start = clock.monotonic()
    try {
      await next()
    } finally {
      const { method, path, status, state } = context
      const ms = Math.round(clock.monotonic() - start)
      lines.info({ ...logFields(context), method, path, status, code: state.failureCode, ms }, 'request')
    }
  }
}
