import { Gauge, type Registry } from 'prom-client'
import { createBoundedLabel, type Labels, OTHER } from './bounded-label.ts'
import { setGauge } from './set-gauge.ts'
import type { EndpointState } from './state.ts'

/** Creates the gauge of the endpoints. Its label has the host only, because providers put keys into the rest of a url (I11). */
export function createEndpointMetrics(
  registry: Registry,
  { network }: Labels,
): (endpoints: readonly EndpointState[]) => void {
  const up = new Gauge({
    name: 'rpc_endpoint_up',
    help: '0: the endpoint failed lately, and this process avoids it; 1: it did not. The lowest of several urls with the same host.',
    labelNames: ['network', 'host'],
    registers: [registry],
  })
  // Callers may bring endpoints of their own, so their number has no other limit.
  const endpointLabel = createBoundedLabel()
  return (endpoints) => {
    const values = endpoints.map((endpoint) => {
      const isNamed = endpointLabel(`${endpoint.network} ${endpoint.host}`) !== OTHER
      const labels = { network: network(endpoint.network), host: isNamed ? endpoint.host : OTHER }
      return { labels, value: endpoint.up ? 1 : 0 }
    })
    setGauge(up, values, Math.min)
  }
}
