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
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import type { SignalSettings } from './settings.ts'

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
