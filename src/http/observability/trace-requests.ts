import type { IncomingHttpHeaders } from 'node:http'
import type { Middleware } from '../state.ts'

/** The answer to a request, for its span. */
export interface TracedAnswer {
  /** The path template of the operation, e.g. `/api/v1/relayers/{relayer_id}`; absent for paths outside the contract. */
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

/** Runs each request in a span of its own. */
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
