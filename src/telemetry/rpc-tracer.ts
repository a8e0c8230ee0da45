import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { RpcObserver } from '../chains/rpc/observer.ts'
import type { ActiveContext } from './active-context.ts'
import type { SpanSource } from './span-source.ts'

/** The most methods of a batch that a span names. */
const MAX_METHODS = 10

/** Names of methods that nodes have; callers can send any text as a method. */
const METHOD = /^[A-Za-z][A-Za-z0-9_]{0,63}$/

/**
 * Creates the observers of RPC requests, which report a client span for each one within a sampled span. Requests outside, such as the look
 * for a new block twice a second, belong to no request and no transaction.
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
