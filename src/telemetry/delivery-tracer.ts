import {
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { DeliverySpan, DeliveryTracer, TracedTry } from '../notifications/delivery/tracer.ts'
import type { SpanSource } from './span-source.ts'
import { rootOf, writeTraceParent } from './transaction-trace.ts'

/** Reads the trace context of the request that created a transaction; undefined where there is none. */
export type ReadTraceParent = (transactionId: string) => Promise<string | undefined>

/**
 * Creates the tracer of deliveries. A try is a client span in the trace of its transaction, and the receiver gets its context in
 * `traceparent`. Events without a transaction have traces of their own.
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
            'server.address': URL.canParse(url) ? new URL(url).host : undefined,
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

/** Without an answer of the database the trace is that of a transaction whose request is not known. */
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
