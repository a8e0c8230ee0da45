import type { Logger } from 'pino'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { RpcObserver } from '../chains/rpc/rpc.ts'
import type { RequestObserver } from '../http/observability/observe-requests.ts'
import type { Clock } from '../lib/time.ts'
import type { DeliveryObserver } from '../notifications/delivery/delivery.ts'
import type { HookObserver } from '../plugins/hooks/hook.ts'
import type { PluginObserver } from '../plugins/host.ts'
import type { TransactionObserver } from '../transactions/model/observer.ts'
import { createEndpointMetrics, createHeadMetrics, createRpcMetrics } from './rpc-metrics.ts'
import { createFixedLabel, createLabels, type MetricSeries, OTHER, readSeries } from './series.ts'
import type { StateSource, StoredState } from './state.ts'
import { createRelayerMetrics, createStateMetrics } from './state-metrics.ts'
import { createTransactionMetrics } from './transaction-metrics.ts'

/**
 * The database is read at most once in this time, in ms, for any number of scrapers. Most of them come every
 * 15 s.
 */
const FRESH_MS = 3_000

/** Timeout in ms for the database. Scrapers wait for ten seconds. */
const TIMEOUT_MS = 3_000

/**
 * Gauges of prom-client whose names end like those of counters. The series of `nodejs_active_resources` and
 * the like add up to them.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics in the text format of Prometheus. */
interface MetricsText {
  readonly contentType: string
  readonly body: string
}

/**
 * The observers of the domains, and the metrics of this process. Only the gauges of the database cover all
 * processes.
 */
export interface Metrics {
  readonly requests: RequestObserver
  readonly transactions: TransactionObserver
  readonly deliveries: DeliveryObserver
  readonly plugins: PluginObserver
  readonly hooks: HookObserver
  rpc(network: string): RpcObserver
  /** Sets the source of the gauges. */
  watch(source: StateSource): void
  read(): Promise<MetricsText>
  /** Reads all metrics as data, for other formats. */
  readSeries(): Promise<readonly MetricSeries[]>
  names(): readonly string[]
  /** Returns undefined for a name that no metric has. */
  readOne(name: string): Promise<MetricsText | undefined>
}

/** Creates metrics in a new registry, including those of the process and of Node.js. */
export function createMetrics({ clock, log }: { readonly clock: Clock; readonly log: Logger }): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const labels = createLabels()
  const { setStored, setWorkers } = createStateMetrics(registry, labels)
  const setReadings = createRelayerMetrics(registry, labels)
  const setEndpoints = createEndpointMetrics(registry, labels)
  const setHeads = createHeadMetrics(registry, labels)
  let source: StateSource | undefined
  let last: { readonly at: number; readonly done: Promise<void> } | undefined

  async function refresh(): Promise<void> {
    setWorkers(source?.workers() ?? [])
    setReadings(source?.readings() ?? [])
    setEndpoints(source?.endpoints() ?? [])
    setHeads(source?.heads() ?? [])
    const state = source && (await readWithin(clock, source, log))
    setStored(state && { state, now: clock.now() })
  }

  async function refreshStale(): Promise<void> {
    const now = clock.now()
    if (last === undefined || now - last.at >= FRESH_MS) last = { at: now, done: refresh() }
    await last.done
  }

  const { contentType } = registry
  return {
    requests: createRequestMetrics(registry),
    transactions: createTransactionMetrics(registry, labels),
    deliveries: createDeliveryMetrics(registry),
    plugins: createPluginMetrics(registry),
    hooks: createHookMetrics(registry),
    rpc: createRpcMetrics(registry, labels),
    watch: (next) => {
      source = next
    },
    read: async () => {
      await refreshStale()
      return { contentType, body: await registry.metrics() }
    },
    readSeries: async () => {
      await refreshStale()
      return readSeries(registry)
    },
    names: () => registry.getMetricsAsArray().map(({ name }) => name),
    readOne: async (name) => {
      // The registry finds the members of a prototype as well.
      if (!registry.getMetricsAsArray().some((metric) => metric.name === name)) return undefined
      await refreshStale()
      return { contentType, body: `${await registry.getSingleMetricAsString(name)}\n` }
    },
  }
}

/**
 * Reads the stored state. Undefined if the database fails or is too slow; the counters of this process are
 * still returned.
 */
async function readWithin(clock: Clock, source: StateSource, log: Logger): Promise<StoredState | undefined> {
  const stop = new AbortController()
  const late = clock.sleep(TIMEOUT_MS, stop.signal).then(() => {
    if (!stop.signal.aborted) throw new Error(`no answer within ${TIMEOUT_MS} ms`)
    return undefined
  })
  try {
    return await Promise.race([source.stored(), late])
  } catch (error) {
    log.warn({ err: error }, 'metrics state not readable')
    return undefined
  } finally {
    stop.abort()
  }
}

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
    help: 'Running requests, including open event streams.',
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

/**
 * The codes of RFC 6455 that a caller or the service uses; all others are `other`, because callers choose
 * them.
 */
const SOCKET_CODES = ['1000', '1001', '1003', '1005', '1006', '1008', '1009', '1011', '1012', '4002']

/** Counts the calls of plugins in this process. */
function createPluginMetrics(registry: Registry): PluginObserver {
  const registers = [registry]
  const calls = new Counter({
    name: 'plugin_calls_total',
    help: 'Calls of plugins: result, refused (by the plugin, in its own words), failed, timeout or unavailable.',
    labelNames: ['plugin_id', 'method', 'status'],
    registers,
  })
  const latency = new Histogram({
    name: 'plugin_call_seconds',
    help: 'Time of a call of a plugin, with its wait in the queue.',
    labelNames: ['plugin_id', 'status'],
    registers,
  })
  const ends = new Counter({
    name: 'plugin_process_ends_total',
    help: 'Processes of plugins that ended and were started again.',
    labelNames: ['plugin_id'],
    registers,
  })
  const sockets = new Gauge({
    name: 'plugin_sockets',
    help: 'Open WebSockets of a plugin.',
    labelNames: ['plugin_id'],
    registers,
  })
  const closes = new Counter({
    name: 'plugin_socket_closes_total',
    help: 'WebSockets that ended, by the code of the end; 1006: without a closing frame.',
    labelNames: ['plugin_id', 'code'],
    registers,
  })
  const messages = new Counter({
    name: 'plugin_socket_messages_total',
    help: 'Messages on WebSockets: received from callers, or sent to them.',
    labelNames: ['plugin_id', 'direction'],
    registers,
  })
  const codeLabel = createFixedLabel(SOCKET_CODES)
  return {
    called: ({ plugin, method, outcome, seconds }) => {
      calls.inc({ plugin_id: plugin, method, status: outcome })
      latency.observe({ plugin_id: plugin, status: outcome }, seconds)
    },
    restarted: (plugin) => ends.inc({ plugin_id: plugin }),
    socketOpened: (plugin) => sockets.inc({ plugin_id: plugin }),
    socketClosed: (plugin, code) => {
      sockets.dec({ plugin_id: plugin })
      closes.inc({ plugin_id: plugin, code: codeLabel(String(code)) })
    },
    socketMessage: (plugin, direction) => messages.inc({ plugin_id: plugin, direction }),
  }
}

/** Counts what hooks of plugins do in this process. */
function createHookMetrics(registry: Registry): HookObserver {
  const registers = [registry]
  const decisions = new Counter({
    name: 'plugin_decisions_total',
    help: 'Answers of before_send: allowed, refused, approval (required), or failed, where its policy decided.',
    labelNames: ['plugin_id', 'decision'],
    registers,
  })
  const events = new Counter({
    name: 'plugin_events_total',
    help: 'Calls of on_event: handled, failed (tried again), or given_up after a day.',
    labelNames: ['plugin_id', 'result'],
    registers,
  })
  const runs = new Counter({
    name: 'plugin_schedule_runs_total',
    help: 'Runs of schedules: succeeded or failed; missed counts times at which nothing ran.',
    labelNames: ['plugin_id', 'schedule', 'result'],
    registers,
  })
  return {
    decided: (plugin, decision) => decisions.inc({ plugin_id: plugin, decision }),
    event: (plugin, result) => events.inc({ plugin_id: plugin, result }),
    ran: ({ plugin, name, result, missed }) => {
      runs.inc({ plugin_id: plugin, schedule: name, result })
      if (missed > 0) runs.inc({ plugin_id: plugin, schedule: name, result: 'missed' }, missed)
    },
  }
}

/** Counts the tries of this process to deliver events to webhooks. */
function createDeliveryMetrics(registry: Registry): DeliveryObserver {
  const registers = [registry]
  const tries = new Counter({
    name: 'webhook_deliveries_total',
    help: 'Attempts to deliver an event: delivered, retried (failed, to be tried again) or dead (given up).',
    labelNames: ['outcome'],
    registers,
  })
  const latency = new Histogram({
    name: 'webhook_delivery_seconds',
    help: 'Time until a receiver answered or the attempt failed.',
    labelNames: ['outcome'],
    registers,
  })
  return {
    tried: ({ outcome, seconds }) => {
      tries.inc({ outcome })
      latency.observe({ outcome }, seconds)
    },
  }
}
