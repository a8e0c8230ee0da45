import { createHash } from 'node:crypto'
import { type Context, type Link, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { SpanIds, SpanSource } from './span-source.ts'

/** The fields of a transaction that decide about its trace. */
export interface TracedTransaction {
  readonly id: string
  /** The trace context of the request that created it. */
  readonly traceParent?: string | undefined
}

const HEX_32 = /^(?!0{32})[0-9a-f]{32}$/

/**
 * Returns the ids of the root span of a transaction. The trace id is the transaction id without its hyphens, so that every process finds the
 * trace without a store, and a person finds it with the id alone.
 */
export function rootIdsOf(transactionId: string): SpanIds {
  const hash = createHash('sha256').update(transactionId).digest('hex')
  const plain = transactionId.replaceAll('-', '').toLowerCase()
  return { traceId: HEX_32.test(plain) ? plain : hash.slice(0, 32), spanId: hash.slice(32, 48) }
}

/**
 * Returns the span context of the root span. Where the request told its context, its sampling decides, unless the sampler ignores parents;
 * otherwise the sampler decides by the trace id, in every process alike.
 */
export function rootOf(
  { id, traceParent }: TracedTransaction,
  { samples }: Pick<SpanSource, 'samples'>,
): SpanContext {
  const ids = rootIdsOf(id)
  const request = contextOfRequest(traceParent)
  const parent: Context =
    request === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags: request.traceFlags, isRemote: true })
  return { ...ids, traceFlags: samples(parent, ids.traceId) ? 1 : 0, isRemote: true }
}

/** Returns the link to the request that created the transaction; none where it is not known. */
export function requestLinks({ traceParent }: TracedTransaction): Link[] {
  const request = contextOfRequest(traceParent)
  return request === undefined ? [] : [{ context: request }]
}

function contextOfRequest(traceParent: string | undefined): SpanContext | undefined {
  return traceParent === undefined ? undefined : (parseTraceParent(traceParent) ?? undefined)
}

/** Writes a span context as the header `traceparent` of W3C. */
export function writeTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`
}
