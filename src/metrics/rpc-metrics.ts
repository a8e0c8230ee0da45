import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RpcObserver } from '../chains/rpc/rpc.ts'
import { createBoundedLabel, createFixedLabel, type Labels, OTHER, setGauge } from './series.ts'
import type { EndpointState, HeadAge } from './state.ts'

/** Buckets in seconds: an endpoint needs from a few milliseconds to the usual time-out of ten seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Creates an observer for each network. Labels contain its name and never a url, because urls contain keys
 * (I11).
 */
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
    help: 'Node errors in unknown wording; the log line "unknown error text of a node" has each text once.',
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

/**
 * The RPC methods that the chains use. Other methods, such as those that callers send through `…/rpc`, count
 * as `other`, because their number is not limited.
 */
const RPC_METHODS: readonly string[] = [
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendPrivateTransaction',
  'eth_sendRawTransaction',
  'getBalance',
  'getBlock',
  'getBlockHeight',
  'getBlocks',
  'getEpochInfo',
  'getFeeStats',
  'getFirstAvailableBlock',
  'getGenesisHash',
  'getLatestBlockhash',
  'getLatestLedger',
  'getLedgerEntries',
  'getLedgers',
  'getMinimumBalanceForRentExemption',
  'getMultipleAccounts',
  'getNetwork',
  'getRecentPrioritizationFees',
  'getSignatureStatuses',
  'getSignaturesForAddress',
  'getSlot',
  'getTransaction',
  'isBlockhashValid',
  'linea_estimateGas',
  'minimumLedgerSlot',
  'sendTransaction',
  'simulateTransaction',
]

/**
 * Creates the gauges of the endpoints. Their label has the host only, because providers put keys into the
 * rest of a url (I11).
 */
export function createEndpointMetrics(
  registry: Registry,
  { network }: Labels,
): (endpoints: readonly EndpointState[]) => void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['network', 'host'], registers: [registry] })
  const up = gauge(
    'rpc_endpoint_up',
    '0: the endpoint failed recently, and this process avoids it; 1: it did not. The lowest of several URLs with the same host.',
  )
  const privateUp = gauge(
    'private_rpc_endpoint_up',
    'The same for private endpoints; they are never queried, so 1 only means that none failed.',
  )
  // Callers may set custom endpoints, so their number has no other limit.
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
    'How long this process has seen no newer block of the network; absent if no endpoint reported its block recently.',
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
