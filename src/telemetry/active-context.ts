import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, ROOT_CONTEXT, type SpanContext, trace } from '@opentelemetry/api'

/**
 * The context of the present asynchronous call. It belongs to one service: the global context of OpenTelemetry would mix the services of
 * one process.
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
