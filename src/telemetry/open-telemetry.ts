import { hrTime } from '@opentelemetry/core'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import type { RpcObserver } from '../chains/rpc/rpc.ts'
import type { QueryObserver } from '../database/query-observer.ts'
import type { RequestTracer } from '../http/observability/observe-requests.ts'
import type { Logger } from '../log.ts'
import type { MetricSeries } from '../metrics/series.ts'
import type { DeliveryTracer } from '../notifications/delivery/delivery.ts'
import type { TransactionObserver, TransactionTracer } from '../transactions/model/observer.ts'
import {
  createEntryExport,
  createLogExporter,
  createMetricExporter,
  createSpanExporter,
  reportFailures,
  toMetricData,
} from './export.ts'
import type { QueueSettings, TelemetrySettings } from './settings.ts'
import { type ActiveContext, createActiveContext, createSpanSource } from './span-source.ts'

import { createDeliveryTracer, createQueryTracer, createRequestTracer, createRpcTracer } from './tracers.ts'
import { createTransactionTracer } from './transaction-tracer.ts'

/** A signal that is exported. */
interface Export {
  close(): Promise<void>
}

/**
 * Opens the exports of the settings. The queues are bounded, so a collector that is slow or down costs items
 * and never the service.
 */
export function openTelemetry(settings: TelemetrySettings): Telemetry {
  const resource = resourceFromAttributes({ ...settings.attributes, 'service.name': settings.serviceName })
  const active = createActiveContext()
  let sources: TelemetrySources | undefined
  let endReports = () => {}
  const shared = { settings, resource, active, sources: () => sources }
  const traces = openTraces(shared)
  const metrics = openMetrics(shared)
  const logs = openLogs(shared)
  const exports = [traces, metrics, logs].filter((one) => one !== undefined)
  return {
    ...(traces && { traces: traces.traces }),
    ...(logs && { exportEntry: logs.exportEntry }),
    exportsMetrics: metrics !== undefined,
    connect: (found) => {
      sources = found
      endReports = reportFailures(found.log)
    },
    close: async (limitMs) => {
      await waitAtMost(
        exports.map((one) => one.close()),
        limitMs,
      )
      endReports()
    },
  }
}

interface Shared {
  readonly settings: TelemetrySettings
  readonly resource: Resource
  readonly active: ActiveContext
  readonly sources: () => TelemetrySources | undefined
}

function openTraces({
  settings,
  resource,
  active,
  sources,
}: Shared): (Export & { traces: Traces }) | undefined {
  const { traces } = settings
  if (traces === undefined) return undefined
  const processor = new BatchSpanProcessor({ exporter: createSpanExporter(traces), ...queueOptions(traces) })
  const source = createSpanSource({ resource, sampler: traces.sampler, processor })
  const { tracer, observer } = createTransactionTracer(source, active)
  return {
    traces: {
      requests: createRequestTracer(source, active),
      transactions: tracer,
      lives: observer,
      deliveries: createDeliveryTracer(source, () => sources()?.traceParentOf),
      queries: createQueryTracer(source, active),
      rpc: createRpcTracer(source, active),
      logFields: () => {
        const span = active.sampledSpan()
        return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }
      },
    },
    close: source.close,
  }
}

function openMetrics({ settings, resource, sources }: Shared): Export | undefined {
  const { metrics } = settings
  if (metrics === undefined) return undefined
  const startTime = hrTime()
  const collect = async () => {
    const series: readonly MetricSeries[] = (await sources()?.readMetrics()) ?? []
    const data = toMetricData(series, { startTime, endTime: hrTime() })
    const scopeMetrics = [{ scope: { name: 'multichain-relayer' }, metrics: data }]
    return { resourceMetrics: { resource, scopeMetrics }, errors: [] }
  }
  const reader = new PeriodicExportingMetricReader({
    exporter: createMetricExporter(metrics),
    exportIntervalMillis: metrics.intervalMs,
    exportTimeoutMillis: Math.min(metrics.timeoutMs, metrics.intervalMs),
    metricProducers: [{ collect }],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return { close: () => provider.shutdown() }
}

function openLogs({
  settings,
  resource,
  active,
}: Shared): (Export & { exportEntry(line: string): void }) | undefined {
  const { logs } = settings
  if (logs === undefined) return undefined
  const processor = new BatchLogRecordProcessor({ exporter: createLogExporter(logs), ...queueOptions(logs) })
  const provider = new LoggerProvider({ resource, processors: [processor] })
  return {
    exportEntry: createEntryExport(provider.getLogger('multichain-relayer'), active),
    close: () => provider.shutdown(),
  }
}

function queueOptions({ queue, timeoutMs }: { readonly queue: QueueSettings; readonly timeoutMs: number }) {
  return {
    maxQueueSize: queue.maxSize,
    maxExportBatchSize: Math.min(queue.maxBatch, queue.maxSize),
    scheduledDelayMillis: queue.delayMs,
    exportTimeoutMillis: timeoutMs,
  }
}

async function waitAtMost(works: readonly Promise<unknown>[], limitMs: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  await Promise.race([Promise.allSettled(works), late])
  clearTimeout(timer)
}

/** The parts of the service that traces are made of, each for its room. */
export interface Traces {
  readonly requests: RequestTracer
  readonly transactions: TransactionTracer
  /** Reports the beginning and the end of transactions. */
  readonly lives: TransactionObserver
  readonly deliveries: DeliveryTracer
  readonly queries: QueryObserver
  rpc(network: string): RpcObserver
  /** Returns the fields of log lines that refer to the current span; none outside one. */
  logFields(): object
}

/** Exports need these parts of the running service. */
export interface TelemetrySources {
  readonly log: Logger
  /** Reads the trace context of the request that created a transaction; undefined if there is none. */
  readonly traceParentOf: (transactionId: string) => Promise<string | undefined>
  readonly readMetrics: () => Promise<readonly MetricSeries[]>
}

/** The exports of this process by OTLP. A signal that is off is absent. */
export interface Telemetry {
  readonly traces?: Traces
  /** True when metrics are exported. */
  readonly exportsMetrics: boolean
  /** Exports a line that the log has written. */
  readonly exportEntry?: (line: string) => void
  /** Sets the sources; before that, nothing is read. */
  connect(sources: TelemetrySources): void
  /** Exports what waits, for `limitMs` at most. Never rejects: what cannot be exported is lost. */
  close(limitMs: number): Promise<void>
}
