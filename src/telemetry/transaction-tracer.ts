import { createHash } from 'node:crypto'
import {
  type Context,
  createContextKey,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { omitUndefined } from '../lib/object.ts'
import type { Step, TransactionObserver, TransactionTracer } from '../transactions/model/observer.ts'
import type { Transaction } from '../transactions/model/transaction.ts'
import type { ActiveContext, SpanIds, SpanSource } from './span-source.ts'

/** The span of the current step for each transaction, by id: a nested step is its child. */
const STEPS = createContextKey('steps of transactions')

type Steps = ReadonlyMap<string, SpanContext>

/**
 * Creates the tracer of transactions, and the observer that reports their beginning and end. The root span of
 * a transaction lasts from its acceptance to its final status, and is exported with the latter; each step has
 * a span below it. What a step does for several transactions together, such as a batch of RPC calls, is a
 * child of the step of the first one.
 */
export function createTransactionTracer(
  source: SpanSource,
  active: ActiveContext,
): { readonly tracer: TransactionTracer; readonly observer: TransactionObserver } {
  return {
    tracer: {
      requestContext: () => {
        const present = trace.getSpanContext(active.get())
        return present && writeTraceParent(present)
      },
      step: (step, work) => runStep({ source, active, step }, work),
    },
    observer: {
      created: (transactions) => {
        for (const transaction of transactions) reportCreated(source, active, transaction)
      },
      submitted: () => {},
      finished: (transactions) => {
        for (const transaction of transactions) reportFinished(source, transaction)
      },
      paid: () => {},
    },
  }
}

interface StepRun {
  readonly source: SpanSource
  readonly active: ActiveContext
  readonly step: Step
}

async function runStep<T>({ source, active, step }: StepRun, work: () => Promise<T>): Promise<T> {
  const outer = active.get().getValue(STEPS) as Steps | undefined
  const spans = new Map<string, Span>()
  for (const transaction of step.transactions)
    spans.set(transaction.id, startStep(source, { step, transaction, parent: outer?.get(transaction.id) }))
  const [first] = spans.values()
  const contexts = new Map([...spans].map(([id, span]) => [id, span.spanContext()]))
  const context = ROOT_CONTEXT.setValue(STEPS, contexts)
  try {
    return await active.run(first === undefined ? context : trace.setSpan(context, first), work)
  } catch (error) {
    for (const span of spans.values()) span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    for (const span of spans.values()) span.end()
  }
}

interface StepSpan {
  readonly step: Step
  readonly transaction: Transaction
  readonly parent: SpanContext | undefined
}

function startStep(source: SpanSource, { step, transaction, parent }: StepSpan): Span {
  const attributes = { ...attributesOf(transaction), 'relayer.step.transactions': step.transactions.length }
  return source.tracer.startSpan(
    `transaction ${step.name}`,
    { attributes },
    contextOf(parent ?? rootOf(transaction, source)),
  )
}

function contextOf(span: SpanContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, span)
}

/** Links the request and the trace of the transaction, each to the other. */
function reportCreated(source: SpanSource, active: ActiveContext, transaction: Transaction): void {
  const root = rootOf(transaction, source)
  trace
    .getSpan(active.get())
    ?.addLink({ context: root, attributes: { 'relayer.transaction.id': transaction.id } })
  source.tracer
    .startSpan(
      'transaction accept',
      {
        startTime: transaction.createdAt,
        attributes: attributesOf(transaction),
        links: requestLinks(transaction),
      },
      contextOf(root),
    )
    .end()
}

function reportFinished(source: SpanSource, transaction: Transaction): void {
  if ((rootOf(transaction, source).traceFlags & 1) === 0) return
  const { id, createdAt, status, nonce } = transaction
  const root = source.startWithIds(rootIdsOf(id), {
    name: 'transaction',
    startTime: createdAt,
    links: requestLinks(transaction),
    attributes: {
      ...attributesOf(transaction),
      ...(nonce !== undefined && { 'relayer.nonce': String(nonce) }),
    },
  })
  if (status === 'failed') root.setStatus({ code: SpanStatusCode.ERROR })
  root.end()
}

function attributesOf({ id, relayerId, network, status, purpose, block }: Transaction) {
  return omitUndefined({
    'relayer.transaction.id': id,
    'relayer.transaction.status': status,
    'relayer.transaction.purpose': purpose,
    'relayer.relayer.id': relayerId,
    'relayer.network': network,
    'relayer.block.number': block && String(block.number),
  })
}

/** The fields of a transaction that decide about its trace. */
interface TracedTransaction {
  readonly id: string
  /** The trace context of the request that created it. */
  readonly traceParent?: string | undefined
}

const HEX_32 = /^(?!0{32})[0-9a-f]{32}$/

/**
 * Returns the ids of the root span of a transaction. The trace id is the transaction id without its hyphens,
 * so that every process finds the trace without a store, and a person finds it with the id alone.
 */
export function rootIdsOf(transactionId: string): SpanIds {
  const hash = createHash('sha256').update(transactionId).digest('hex')
  const plain = transactionId.replaceAll('-', '').toLowerCase()
  return { traceId: HEX_32.test(plain) ? plain : hash.slice(0, 32), spanId: hash.slice(32, 48) }
}

/**
 * Returns the span context of the root span. If the request has a context, its sampling decides, unless the
 * sampler ignores parents; otherwise the sampler decides by the trace id, in every process alike.
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

/** Returns the link to the request that created the transaction; none if it is unknown. */
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
