import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { RequestTracer, TracedAnswer } from '../http/observability/trace-requests.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { ActiveContext } from './active-context.ts'
import type { SpanSource } from './span-source.ts'
import { rootOf } from './transaction-trace.ts'

const HEADERS = {
  get: (carrier: unknown, name: string) => (carrier as Record<string, string | string[] | undefined>)[name],
  keys: (carrier: object) => Object.keys(carrier),
}

/** Methods by which spans may be named; callers can send any other. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Creates a tracer whose server spans follow the conventions for HTTP. A valid `traceparent` of the caller is the parent. */
export function createRequestTracer(source: SpanSource, active: ActiveContext): RequestTracer {
  const propagator = new W3CTraceContextPropagator()
  return {
    trace: async ({ method, headers, answer }, work) => {
      const parent = propagator.extract(ROOT_CONTEXT, headers, HEADERS)
      const known = METHODS.includes(method) ? method : '_OTHER'
      const span = source.tracer.startSpan(
        known === '_OTHER' ? 'HTTP' : known,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': known } },
        parent,
      )
      try {
        await active.run(trace.setSpan(parent, span), work)
      } finally {
        if (span.isRecording()) describe(span, { source, method: known, answer: answer() })
        span.end()
      }
    },
  }
}

/** Methods that change a transaction. Its creation links it as well. */
const CHANGES = ['PUT', 'PATCH', 'DELETE']

interface Described {
  readonly source: SpanSource
  readonly method: string
  readonly answer: TracedAnswer
}

function describe(span: Span, { source, method, answer }: Described): void {
  const { route, operation, status, failureCode, requestId, apiKeyId, relayerId, transactionId } = answer
  if (route !== undefined && method !== '_OTHER') span.updateName(`${method} ${route}`)
  span.setAttributes(
    omitUndefined({
      'http.route': route,
      'http.response.status_code': status,
      'error.type': status >= 500 ? String(status) : undefined,
      'relayer.operation': operation,
      'relayer.failure_code': failureCode,
      'relayer.request_id': requestId,
      'relayer.api_key.id': apiKeyId,
      'relayer.relayer.id': idOf(relayerId),
      'relayer.transaction.id': idOf(transactionId),
    }),
  )
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  if (transactionId !== undefined && status < 400 && CHANGES.includes(method))
    span.addLink({ context: rootOf({ id: transactionId }, source) })
}

/** The longest id that a relayer or transaction has. Path parameters are unchecked when a request fails early. */
const MAX_ID_LENGTH = 128

function idOf(parameter: string | undefined): string | undefined {
  return parameter?.slice(0, MAX_ID_LENGTH)
}
