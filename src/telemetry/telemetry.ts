import type { RpcObserver } from '../chains/rpc/rpc.ts'
import type { QueryObserver } from '../database/query-observer.ts'
import type { RequestTracer } from '../http/observability/observe-requests.ts'
import type { Logger } from '../log.ts'
import type { MetricSeries } from '../metrics/series.ts'
import type { DeliveryTracer } from '../notifications/delivery/delivery.ts'
import type { TransactionObserver, TransactionTracer } from '../transactions/model/observer.ts'
import type { TelemetrySettings } from './settings.ts'

/** The parts of the service that traces are made of, each for its room. */
export interface Traces {
  readonly requests: RequestTracer
  readonly transactions: TransactionTracer
  /** Reports the beginning and the end of transactions. */
  readonly lives: TransactionObserver
  readonly deliveries: DeliveryTracer
  readonly queries: QueryObserver
  rpc(network: string): RpcObserver
  /** Returns the fields of log lines that lead to the present span; none outside one. */
  logFields(): object
}

/** Exports need these parts of the running service. */
export interface TelemetrySources {
  readonly log: Logger
  /** Reads the trace context of the request that created a transaction; undefined where there is none. */
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
  /** Gives the sources; before, nothing is read. */
  connect(sources: TelemetrySources): void
  /** Exports what waits, for `limitMs` at most. Never rejects: what cannot be exported is lost. */
  close(limitMs: number): Promise<void>
}

/** Starts the exports. Without settings nothing of OpenTelemetry is loaded. */
export async function startTelemetry(
  settings: TelemetrySettings | undefined,
): Promise<Telemetry | undefined> {
  if (settings === undefined) return undefined
  const { openTelemetry } = await import('./open-telemetry.ts')
  return openTelemetry(settings)
}
