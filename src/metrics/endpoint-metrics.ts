import { Gauge, type Registry } from 'prom-client'
import { createBoundedLabel, type Labels, OTHER } from './bounded-label.ts'
import { setGauge } from './set-gauge.ts'
import type { EndpointState, HeadAge } from './state.ts'

/** Creates the gauges of the endpoints. Their label has the host only, because providers put keys into the rest of a url (I11). */
export function createEndpointMetrics(
  registry: Registry,
  { network }: Labels,
): (endpoints: readonly EndpointState[]) => void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['network', 'host'], registers: [registry] })
  const up = gauge(
    'rpc_endpoint_up',
    '0: the endpoint failed lately, and this process avoids it; 1: it did not. The lowest of several urls with the same host.',
  )
  const privateUp = gauge(
    'private_rpc_endpoint_up',
    'The same for endpoints that only take the bytes of private transactions; they are asked nothing else, so 1 says only that none failed.',
  )
  // Callers may bring endpoints of their own, so their number has no other limit.
  const endpointLabel = createBoundedLabel()
  const sampleOf = (endpoint: EndpointState) => {
    const isNamed = endpointLabel(`${endpoint.network} ${endpoint.host}`) !== OTHER
    const labels = { network: network(endpoint.network), host: isNamed ? endpoint.host : OTHER }
    return { labels, value: endpoint.up ? 1 : 0 }
  }
  return (endpoints) => {
    const [ofPrivate, others] = [
      endpoints.filter(({ isPrivate }) => isPrivate),
      endpoints.filter(({ isPrivate }) => !isPrivate),
    ]
    setGauge(up, others.map(sampleOf), Math.min)
    setGauge(privateUp, ofPrivate.map(sampleOf), Math.min)
  }
}

/** Creates the gauges of the newest blocks. */
export function createHeadMetrics(
  registry: Registry,
  { network }: Labels,
): (heads: readonly HeadAge[]) => void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['network'], registers: [registry] })
  const age = gauge(
    'chain_head_age_seconds',
    'For so long this process has seen no newer block of the network; absent when no endpoint told its block lately.',
  )
  const limit = gauge(
    'chain_head_limit_seconds',
    'From this age of its newest block on, the network has halted; absent for networks that make blocks on demand.',
  )
  return (heads) => {
    const sampleOf = (one: HeadAge, value: number) => ({ labels: { network: network(one.network) }, value })
    setGauge(
      age,
      heads.map((one) => sampleOf(one, one.ageSeconds)),
      Math.max,
    )
    setGauge(
      limit,
      heads.flatMap((one) => (one.limitSeconds === undefined ? [] : sampleOf(one, one.limitSeconds))),
      Math.min,
    )
  }
}
