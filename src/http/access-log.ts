import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import type { Middleware } from './state.ts'

/** One line per request. The path carries ids but no secrets; the query is left out, as callers put anything there. */
export function accessLog({ log, clock }: { log: Logger; clock: Clock }): Middleware {
  // None of these fields can hold a secret, and looking for one would cost more than writing the line.
  const lines = log.child({}, { redact: [] })
  return async function accessLog(context, next) {
    const start = clock.now()
    try {
      await next()
    } finally {
      const { requestId, operation, transactionId, failureCode } = context.state
      lines.info(
        {
          request_id: requestId,
          method: context.method,
          path: context.path,
          operation: operation?.id,
          transaction: transactionId,
          status: context.status,
          code: failureCode,
          ms: clock.now() - start,
        },
        'request',
      )
    }
  }
}
