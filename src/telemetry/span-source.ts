import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  ROOT_CONTEXT,
  type Sampler,
  SamplingDecision,
  type Span,
  type SpanContext,
  type SpanOptions,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { SamplerSettings } from './settings.ts'

/** The ids of a span. */
export interface SpanIds {
  readonly traceId: string
  readonly spanId: string
}

/** Starts spans. */
export interface SpanSource {
  readonly tracer: Tracer
  /** Starts a root span with these ids. The sampler is not called again. */
  startWithIds(ids: SpanIds, span: SpanOptions & { readonly name: string }): Span
  /** Calls the sampler for a trace, whose parent may be in the context. */
  samples(context: Context, traceId: string): boolean
  /** Exports what waits, and rejects when that fails. */
  close(): Promise<void>
}

interface SpanSourceOptions {
  readonly resource: Resource
  readonly sampler: SamplerSettings
  readonly processor: SpanProcessor
}

/** Creates a source of spans that the processor exports. */
export function createSpanSource({ resource, sampler, processor }: SpanSourceOptions): SpanSource {
  const chosen = samplerOf(sampler)
  const random = new RandomIdGenerator()
  let preset: SpanIds | undefined
  const provider = new TracerProvider({
    resource,
    sampler: {
      shouldSample: (...call) =>
        preset === undefined
          ? chosen.shouldSample(...call)
          : { decision: SamplingDecision.RECORD_AND_SAMPLED },
    },
    idGenerator: {
      generateTraceId: () => preset?.traceId ?? random.generateTraceId(),
      generateSpanId: () => preset?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('multichain-relayer')
  return {
    tracer,
    startWithIds: (ids, { name, ...options }) => {
      preset = ids
      try {
        return tracer.startSpan(name, { ...options, root: true }, ROOT_CONTEXT)
      } finally {
        preset = undefined
      }
    },
    samples: (context, traceId) =>
      chosen.shouldSample(context, traceId, 'transaction', 0, {}, []).decision ===
      SamplingDecision.RECORD_AND_SAMPLED,
    close: () => provider.shutdown(),
  }
}

function samplerOf({ name, ratio }: SamplerSettings): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  switch (name) {
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: roots.always_on() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: roots.always_off() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: roots.traceidratio() })
    default:
      return roots[name]()
  }
}

/**
 * The context of the current asynchronous call. It belongs to one service: the global context of
 * OpenTelemetry would mix the services of one process.
 */
export interface ActiveContext {
  get(): Context
  /** Runs `work` with the context. */
  run<T>(context: Context, work: () => T): T
  /** The span of the context; undefined outside a span, and in one that is not sampled. */
  sampledSpan(): SpanContext | undefined
}

export function createActiveContext(): ActiveContext {
  const storage = new AsyncLocalStorage<Context>()
  const get = () => storage.getStore() ?? ROOT_CONTEXT
  return {
    get,
    run: (context, work) => storage.run(context, work),
    sampledSpan: () => {
      const span = trace.getSpanContext(get())
      return span !== undefined && isSampled(span) ? span : undefined
    },
  }
}

/** True for a span that is exported. */
function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & 1) === 1
}
