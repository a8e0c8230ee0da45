import {
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { RpcObserver } from '../chains/rpc/rpc.ts'
import type { QueryObserver } from '../database/query-observer.ts'
import type { RequestTracer, TracedAnswer } from '../http/observability/observe-requests.ts'
import { omitUndefined } from '../lib/object.ts'
import type { DeliverySpan, DeliveryTracer, TracedTry } from '../notifications/delivery/delivery.ts'
import type { ActiveContext, SpanSource } from './span-source.ts'
import { rootOf, writeTraceParent } from './transaction-tracer.ts'

const HEADERS = {
  get: (carrier: unknown, name: string) => (carrier as Record<string, string | string[] | undefined>)[name],
  keys: (carrier: object) => Object.keys(carrier),
}

/** Methods by which spans may be named; callers can send any other. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Creates a tracer whose server spans follow the conventions for HTTP. A valid `traceparent` of the caller is
 * the parent.
 */
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

/**
 * The longest id that a relayer or transaction has. Path parameters are unchecked when a request fails early.
 */
const MAX_ID_LENGTH = 128

function idOf(parameter: string | undefined): string | undefined {
  return parameter?.slice(0, MAX_ID_LENGTH)
}

/** Reads the trace context of the request that created a transaction; undefined if there is none. */
type ReadTraceParent = (transactionId: string) => Promise<string | undefined>

/**
 * Creates the tracer of deliveries. An attempt is a client span in the trace of its transaction, and the
 * receiver gets its context in `traceparent`. Events without a transaction have separate traces.
 */
export function createDeliveryTracer(
  source: SpanSource,
  read: () => ReadTraceParent | undefined,
): DeliveryTracer {
  return {
    begin: async (item) => {
      const root = await findRoot(source, read(), item)
      const parent = root === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, root)
      const { event, notificationId, tries, url } = item
      const span = source.tracer.startSpan(
        'POST webhook',
        {
          kind: SpanKind.CLIENT,
          attributes: omitUndefined({
            'http.request.method': 'POST',
            'http.request.resend_count': tries === 0 ? undefined : tries,
            'server.address': (URL.canParse(url) && new URL(url).host) || undefined,
            'relayer.event.type': event.type,
            'relayer.event.id': event.uid,
            'relayer.notification.id': notificationId,
            'relayer.relayer.id': event.relayerId,
            'relayer.transaction.id': event.transactionId,
          }),
        },
        parent,
      )
      return toDeliverySpan(span)
    },
  }
}

/** Without a reply from the database, the trace is that of a transaction with an unknown request. */
async function findRoot(
  source: SpanSource,
  read: ReadTraceParent | undefined,
  { event: { transactionId: id } }: TracedTry,
): Promise<SpanContext | undefined> {
  if (id === undefined) return undefined
  const traceParent = await read?.(id).catch(() => undefined)
  return rootOf({ id, traceParent }, source)
}

function toDeliverySpan(span: Span): DeliverySpan {
  return {
    headers: { traceparent: writeTraceParent(span.spanContext()) },
    end: ({ status, isDelivered }) => {
      if (status !== undefined) span.setAttribute('http.response.status_code', status)
      if (!isDelivered) {
        span.setAttribute('error.type', status === undefined ? 'no_answer' : String(status))
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

/** The characters of a statement that a span shows; the longest ones of the service have about 3,000. */
const MAX_SQL_LENGTH = 2_000

/** Creates the observer of statements, which reports a client span for each one within a sampled span. */
export function createQueryTracer(source: SpanSource, active: ActiveContext): QueryObserver {
  return {
    ended: ({ sql, ms, isFailure }) => {
      if (active.sampledSpan() === undefined) return
      const text = sql.trim()
      const operation = /^[a-z]+/i.exec(text)?.[0].toUpperCase() ?? 'QUERY'
      const end = Date.now()
      const span = source.tracer.startSpan(
        `SQL ${operation}`,
        {
          kind: SpanKind.CLIENT,
          startTime: end - ms,
          attributes: {
            'db.system.name': 'postgresql',
            'db.operation.name': operation,
            'db.query.text': text.slice(0, MAX_SQL_LENGTH),
          },
        },
        active.get(),
      )
      if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(end)
    },
  }
}

/** The most methods of a batch that a span names. */
const MAX_METHODS = 10

/** Names of methods that nodes have; callers can send any text as a method. */
const METHOD = /^[A-Za-z][A-Za-z0-9_]{0,63}$/

/**
 * Creates the observers of RPC requests, which report a client span for each one within a sampled span.
 * Requests outside, such as the look for a new block twice a second, belong to no request and no transaction.
 */
export function createRpcTracer(source: SpanSource, active: ActiveContext): (network: string) => RpcObserver {
  return (network) => ({
    asked: ({ host, methods, seconds, failure }) => {
      if (active.sampledSpan() === undefined) return
      const names = [...new Set(methods)].map((method) => (METHOD.test(method) ? method : 'other'))
      const end = Date.now()
      const span = source.tracer.startSpan(
        names.length === 1 ? `RPC ${names[0]}` : 'RPC batch',
        {
          kind: SpanKind.CLIENT,
          startTime: end - seconds * 1000,
          attributes: {
            'rpc.system.name': 'jsonrpc',
            'rpc.method': names.slice(0, MAX_METHODS).join(' '),
            'relayer.rpc.calls': methods.length,
            'relayer.network': network,
            'server.address': host,
            ...(failure !== undefined && { 'error.type': failure }),
          },
        },
        active.get(),
      )
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(end)
    },
  })
}
