import type { Secret } from '../security/secrets.ts'

/** The destination of one signal (traces, metrics or logs): an OTLP receiver over HTTP. */
export interface SignalSettings {
  readonly url: string
  /** The headers of each request, which may hold credentials. */
  readonly headers: Readonly<Record<string, Secret>>
  /** The longest that one export may take, with its retries, in ms. */
  readonly timeoutMs: number
  readonly compression: 'gzip' | 'none'
}

/** The names of the samplers that the specification of OpenTelemetry defines and the service has. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

export interface SamplerSettings {
  readonly name: (typeof SAMPLERS)[number]
  /** The part of the traces that a sampler with a ratio takes, from 0 to 1. */
  readonly ratio: number
}

/** The queue of finished spans, and the same for log records. */
export interface QueueSettings {
  /** Further items are dropped while this many wait. */
  readonly maxSize: number
  /** The most items of one export. */
  readonly maxBatch: number
  /** The time in ms for which items are collected. */
  readonly delayMs: number
}

/** The signals that leave the process by OTLP. An absent signal is off. */
export interface TelemetrySettings {
  readonly serviceName: string
  /** Further attributes of the resource, e.g. `deployment.environment.name`. */
  readonly attributes: Readonly<Record<string, string>>
  readonly traces?: SignalSettings & { readonly sampler: SamplerSettings; readonly queue: QueueSettings }
  readonly metrics?: SignalSettings & { readonly intervalMs: number }
  readonly logs?: SignalSettings & { readonly queue: QueueSettings }
}
