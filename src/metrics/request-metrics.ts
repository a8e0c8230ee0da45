import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RequestObserver } from '../http/observability/observe-requests.ts'
import { createFixedLabel, OTHER } from './bounded-label.ts'

const LABELS = ['endpoint', 'method', 'status'] as const

const methodLabel = createFixedLabel(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])

/** Counts requests by operation of the contract, never by path. */
export function createRequestMetrics(registry: Registry): RequestObserver {
  const registers = [registry]
  const total = new Counter({
    name: 'requests_total',
    help: 'Answered requests, by operation of the contract; other: pages, and paths that do not exist.',
    labelNames: LABELS,
    registers,
  })
  const failed = new Counter({
    name: 'error_requests_total',
    help: 'Requests that were answered with a status of 400 or higher.',
    labelNames: LABELS,
    registers,
  })
  const latency = new Histogram({
    name: 'request_latency_seconds',
    help: 'Time from the arrival of a request to its answer.',
    labelNames: LABELS,
    registers,
  })
  const inFlight = new Gauge({
    name: 'in_flight_requests',
    help: 'Requests under way, open event streams among them.',
    registers,
  })
  return {
    begun: () => inFlight.inc(),
    answered: ({ operation = OTHER, method, status, seconds }) => {
      const labels = { endpoint: operation, method: methodLabel(method), status }
      total.inc(labels)
      if (status >= 400) failed.inc(labels)
      latency.observe(labels, seconds)
    },
    ended: () => inFlight.dec(),
  }
}
