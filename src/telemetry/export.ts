import {
  type Attributes,
  DiagLogLevel,
  diag,
  type HrTime,
  type Logger as OtelLogger,
  SeverityNumber,
  ValueType,
} from '@opentelemetry/api'
import { CompressionAlgorithm, OTLPExporterBase } from '@opentelemetry/otlp-exporter-base'
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http'
import {
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { type Logger, maskUrls } from '../log.ts'
import type { MetricSeries } from '../metrics/series.ts'
import type { SignalSettings } from './settings.ts'
import type { ActiveContext } from './span-source.ts'

/** Creates an exporter of spans by OTLP, as protobuf over HTTP. */
export function createSpanExporter(settings: SignalSettings): OTLPExporterBase<ReadableSpan[]> {
  const options = optionsOf(settings, 'TRACES')
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      options,
      ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    ),
  )
}

/** Creates an exporter of metrics by OTLP, as protobuf over HTTP. */
export function createMetricExporter(settings: SignalSettings): OTLPExporterBase<ResourceMetrics> {
  const options = optionsOf(settings, 'METRICS')
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      options,
      ProtobufMetricsSerializer,
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    ),
  )
}

/** Creates an exporter of log records by OTLP, as protobuf over HTTP. */
export function createLogExporter(settings: SignalSettings): OTLPExporterBase<ReadableLogRecord[]> {
  const options = optionsOf(settings, 'LOGS')
  return new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      options,
      ProtobufLogsSerializer,
      'otlp_http_log_exporter',
      LogsExporterMetricsHelper,
      undefined,
    ),
  )
}

/** The library reads the variables for certificates from the environment itself. */
function optionsOf(
  { url, headers, timeoutMs, compression }: SignalSettings,
  signal: 'TRACES' | 'METRICS' | 'LOGS',
) {
  const settings = {
    url,
    timeoutMillis: timeoutMs,
    compression: compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
    headers: Object.fromEntries(Object.entries(headers).map(([name, secret]) => [name, secret.reveal()])),
  }
  return convertLegacyHttpOptions(settings, signal, `v1/${signal.toLowerCase()}`, {
    'Content-Type': 'application/x-protobuf',
  })
}

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
}

/**
 * Creates a function that exports a line of the log. The line was written without secrets, so the record has
 * none either.
 */
export function createEntryExport(logger: OtelLogger, active: ActiveContext): (line: string) => void {
  return (line) => {
    // The trace ids of the line are fields of the record, which come with the context.
    const { level, time, msg, trace_id, span_id, pid, hostname, err, ...fields } = JSON.parse(line) as Line
    logger.emit({
      timestamp: new Date(time),
      severityNumber: SEVERITIES[level] ?? SeverityNumber.UNSPECIFIED,
      severityText: level,
      body: msg ?? '',
      attributes: { ...toAttributes(fields), ...errorAttributes(err) },
      context: active.get(),
    })
  }
}

interface Line extends Readonly<Record<string, unknown>> {
  readonly level: string
  readonly time: string
  readonly msg?: string
}

/** Numbers, texts and booleans stay; everything else is written as JSON. */
function toAttributes(fields: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? value
        : JSON.stringify(value),
    ]),
  )
}

function errorAttributes(error: unknown): Attributes {
  if (typeof error !== 'object' || error === null) return error === undefined ? {} : { error: String(error) }
  const { type, message, stack } = error as Readonly<Record<string, unknown>>
  return toAttributes({ 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack })
}

/** The time from which the counters count, and the present. */
interface Period {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

/**
 * Converts metrics of Prometheus to those of OpenTelemetry, with their names and labels. Values that are not
 * finite are left out, and so are metrics without values.
 */
export function toMetricData(series: readonly MetricSeries[], period: Period): MetricData[] {
  return series.map((one) => toMetric(one, period)).filter(({ dataPoints }) => dataPoints.length > 0)
}

function toMetric(one: MetricSeries, period: Period): MetricData {
  const common = {
    descriptor: {
      name: one.name,
      description: one.help,
      unit: unitOf(one.name),
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (one.kind === 'histogram')
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(one, period) }
  const dataPoints = one.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...period, attributes: { ...labels }, value }))
  return one.kind === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's'
  return /_bytes(_total)?$/.test(name) ? 'By' : ''
}

interface Parts {
  readonly labels: Readonly<Record<string, string | number>>
  /** The upper bounds and the cumulative counts, in ascending order. */
  readonly buckets: { readonly bound: number; readonly count: number }[]
  sum: number
  count: number
}

function histogramPoints({ name, values }: MetricSeries, period: Period) {
  const groups = new Map<string, Parts>()
  for (const { name: part, labels, value } of values) {
    const { le, ...others } = labels
    const key = JSON.stringify(others)
    const parts = groups.get(key) ?? { labels: others, buckets: [], sum: 0, count: 0 }
    groups.set(key, parts)
    if (part === `${name}_sum`) parts.sum = value
    else if (part === `${name}_count`) parts.count = value
    else parts.buckets.push({ bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: value })
  }
  return [...groups.values()].map((parts) => ({
    ...period,
    attributes: { ...parts.labels },
    value: toHistogram(parts),
  }))
}

/**
 * The buckets of Prometheus count everything below their bound; those of OpenTelemetry count what the one
 * before does not.
 */
function toHistogram({ buckets, sum, count }: Parts): Histogram {
  const finite = buckets
    .filter(({ bound }) => Number.isFinite(bound))
    .sort((one, other) => one.bound - other.bound)
  const cumulative = [...finite.map((bucket) => bucket.count), count]
  return {
    buckets: {
      boundaries: finite.map(({ bound }) => bound),
      counts: cumulative.map((total, index) => total - (cumulative[index - 1] ?? 0)),
    },
    sum,
    count,
  }
}

/** Time in ms within which a failure is logged once: a collector that is down fails every few seconds. */
const QUIET_MS = 60_000

const MAX_LENGTH = 300

/**
 * Writes failed exports and dropped items to the log. The library has one place for them in a process.
 * Returns a function that ends it.
 */
export function reportFailures(log: Logger): () => void {
  const toldAt = new Map<string, number>()
  const tell = (...texts: unknown[]) => {
    const detail = maskUrls(texts.map(String).join(' ')).slice(0, MAX_LENGTH)
    const kind = detail.replaceAll(/[0-9]+/g, '')
    const now = performance.now()
    if (now - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    toldAt.set(kind, now)
    log.warn({ detail }, 'telemetry not exported; the service is not affected')
  }
  const quiet = () => {}
  diag.setLogger(
    { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  return () => diag.disable()
}
