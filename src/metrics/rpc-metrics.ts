import { Counter, Histogram, type Registry } from 'prom-client'
import type { RpcObserver } from '../chains/rpc/observer.ts'
import { createFixedLabel, type Labels } from './bounded-label.ts'
import { RPC_METHODS } from './rpc-methods.ts'

/** Buckets in seconds: an endpoint needs from a few milliseconds to the usual time-out of ten seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Creates an observer for each network. Labels contain its name and never a url, because urls contain keys (I11). */
export function createRpcMetrics(registry: Registry, labels: Labels): (network: string) => RpcObserver {
  const registers = [registry]
  const latency = new Histogram({
    name: 'rpc_call_latency_seconds',
    help: 'Time of an HTTP request to an RPC endpoint, once for each method in it.',
    labelNames: ['network', 'method'],
    buckets: BUCKETS,
    registers,
  })
  const failures = new Counter({
    name: 'api_rpc_failures_total',
    help: 'RPC requests that an endpoint did not answer, once for each method in them.',
    labelNames: ['network', 'method', 'error_type'],
    registers,
  })
  const unknownTexts = new Counter({
    name: 'unknown_node_texts_total',
    help: 'Errors of nodes in words that the service does not know; the log line "unknown error text of a node" has each text once.',
    labelNames: ['network', 'call'],
    registers,
  })
  const methodLabel = createFixedLabel(RPC_METHODS)
  return (name) => {
    const network = labels.network(name)
    return {
      asked: ({ methods, seconds, failure }) => {
        for (const method of new Set(methods.map(methodLabel))) {
          latency.observe({ network, method }, seconds)
          if (failure !== undefined) failures.inc({ network, method, error_type: failure })
        }
      },
      unknownText: (call) => unknownTexts.inc({ network, call }),
    }
  }
}
