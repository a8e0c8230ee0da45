import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { Clock } from '../../lib/time.ts'
import { logFields, type Middleware } from '../state.ts'

/** Receives the progress of each request. Its methods must not throw. */
export interface RequestObserver {
  begun(): void
  answered(answer: {
    /** The operation of the contract; absent for other paths. */
    readonly operation?: string | undefined
    readonly method: string
    readonly status: number
    readonly seconds: number
  }): void
  /**
   * The connection has sent the whole answer, or has closed; event streams end long after their answer began.
   */
  ended(): void
}

/** Reports every request to the observer. */
export function observeRequests(observer: RequestObserver): Middleware {
  return async function observeRequests(context, next) {
    const start = performance.now()
    observer.begun()
    context.res.once('close', observer.ended)
    try {
      await next()
    } finally {
      observer.answered({
        operation: context.state.operation?.id,
        method: context.method,
        status: context.status,
        seconds: (performance.now() - start) / 1000,
      })
    }
  }
}

/** The answer to a request, for its span. */
export interface TracedAnswer {
  /**
   * The path template of the operation, e.g. `/api/v1/relayers/{relayer_id}`; absent for paths outside the
   * contract.
   */
  readonly route: string | undefined
  readonly operation: string | undefined
  readonly status: number
  /** The code of the failure that the caller receives. */
  readonly failureCode: string | undefined
  readonly requestId: string
  /** The id of the API key, never its secret. */
  readonly apiKeyId: string | undefined
  readonly relayerId: string | undefined
  readonly transactionId: string | undefined
}

/** Runs the work of a request in a span. */
export interface RequestTracer {
  /** Rejects as `work` does. A trace context in the headers that is not valid is ignored. */
  trace(
    request: {
      readonly method: string
      readonly headers: IncomingHttpHeaders
      /** Read after the work. */
      readonly answer: () => TracedAnswer
    },
    work: () => Promise<void>,
  ): Promise<void>
}

/** Runs each request in its own span. */
export function traceRequests(tracer: RequestTracer): Middleware {
  return function traceRequests(context, next) {
    const answer = (): TracedAnswer => {
      const { operation, failureCode, requestId, apiKeyId, ids } = context.state
      return {
        route: operation?.path,
        operation: operation?.id,
        status: context.status,
        failureCode,
        requestId,
        apiKeyId,
        relayerId: ids?.relayer_id,
        transactionId: ids?.transaction_id,
      }
    }
    return tracer.trace({ method: context.method, headers: context.headers, answer }, next)
  }
}

/**
 * Writes one line per request. The path carries ids but no secrets; the query is left out, because callers
 * put anything there.
 */
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

/** Accepts only ids that cannot break out of a header or a log line, with a bounded length. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

/** Gives every request an id: the caller's `X-Request-Id` if it is valid, otherwise a new one. */
export function requestId(): Middleware {
  return function requestId({ req, res, state }, next) {
    const wanted = req.headers['x-request-id']
    state.requestId = typeof wanted === 'string' && ACCEPTABLE.test(wanted) ? wanted : randomUUID()
    res.setHeader('X-Request-Id', state.requestId)
    res.setHeader('X-Content-Type-Options', 'nosniff')
    return next()
  }
}
