import { createSecret } from '../security/secrets.ts'
import {
  SAMPLERS,
  type SamplerSettings,
  type SignalSettings,
  type TelemetrySettings,
} from '../telemetry/settings.ts'

type Env = Readonly<Record<string, string | undefined>>

type Signal = 'traces' | 'metrics' | 'logs'

/** Whole numbers of the specification: name, default, least, most. Times are in ms. */
const NUMBERS = {
  OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: [512, 1, 100_000],
  OTEL_BLRP_MAX_QUEUE_SIZE: [2048, 1, 1_000_000],
  OTEL_BLRP_SCHEDULE_DELAY: [1000, 1, 600_000],
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: [512, 1, 100_000],
  OTEL_BSP_MAX_QUEUE_SIZE: [2048, 1, 1_000_000],
  OTEL_BSP_SCHEDULE_DELAY: [5000, 1, 600_000],
  OTEL_METRIC_EXPORT_INTERVAL: [60_000, 1000, 3_600_000],
} as const satisfies Record<string, readonly [number, number, number]>

const TIMEOUT_MS = [10_000, 1, 600_000] as const

/**
 * Reads the standard variables of OpenTelemetry. Undefined if no endpoint is named, or `OTEL_SDK_DISABLED` is
 * `true`: then no package of OpenTelemetry is loaded. An empty variable counts as absent.
 */
export function readTelemetry(env: Env, problems: string[]): TelemetrySettings | undefined {
  if (isDisabled(env, problems)) return undefined
  const traces = readSignal(env, 'traces', problems)
  const metrics = readSignal(env, 'metrics', problems)
  const logs = readSignal(env, 'logs', problems)
  if (traces === undefined && metrics === undefined && logs === undefined) return undefined
  const number = (name: keyof typeof NUMBERS) => readNumber(env, name, NUMBERS[name], problems)
  const { 'service.name': named, ...attributes } = readPairs(env, 'OTEL_RESOURCE_ATTRIBUTES', problems)
  return {
    serviceName: env.OTEL_SERVICE_NAME || named || 'relayer',
    attributes,
    ...(traces && {
      traces: {
        ...traces,
        sampler: readSampler(env, problems),
        queue: {
          maxSize: number('OTEL_BSP_MAX_QUEUE_SIZE'),
          maxBatch: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
          delayMs: number('OTEL_BSP_SCHEDULE_DELAY'),
        },
      },
    }),
    ...(metrics && { metrics: { ...metrics, intervalMs: number('OTEL_METRIC_EXPORT_INTERVAL') } }),
    ...(logs && {
      logs: {
        ...logs,
        queue: {
          maxSize: number('OTEL_BLRP_MAX_QUEUE_SIZE'),
          maxBatch: number('OTEL_BLRP_MAX_EXPORT_BATCH_SIZE'),
          delayMs: number('OTEL_BLRP_SCHEDULE_DELAY'),
        },
      },
    }),
  }
}

function isDisabled({ OTEL_SDK_DISABLED: text = '' }: Env, problems: string[]): boolean {
  if (!['', 'true', 'false'].includes(text.toLowerCase()))
    problems.push('OTEL_SDK_DISABLED must be true or false')
  return text.toLowerCase() === 'true'
}

/** A variable of one signal counts before that of all signals. */
function readSignal(env: Env, signal: Signal, problems: string[]): SignalSettings | undefined {
  const url = readUrl(env, signal, problems)
  if (!isExported(env, signal, problems) || url === undefined) return undefined
  const of = (suffix: string) => nameOf(env, signal, suffix)
  checkProtocol(env, of('PROTOCOL'), problems)
  const headers = readPairs(env, of('HEADERS'), problems)
  return {
    url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, createSecret(text)])),
    timeoutMs: readNumber(env, of('TIMEOUT'), TIMEOUT_MS, problems),
    compression: readCompression(env, of('COMPRESSION'), problems),
  }
}

function nameOf(env: Env, signal: Signal, suffix: string): string {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${suffix}`
  return env[own] ? own : `OTEL_EXPORTER_OTLP_${suffix}`
}

/** The endpoint of one signal is the whole url; that of all signals is its beginning. */
function readUrl(env: Env, signal: Signal, problems: string[]): string | undefined {
  const name = nameOf(env, signal, 'ENDPOINT')
  const text = env[name]
  if (!text) return undefined
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    const problem = `${name} must be a url that starts with http:// or https://, such as http://localhost:4318`
    if (!problems.includes(problem)) problems.push(problem)
    return undefined
  }
  return name === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? `${text.replace(/\/+$/, '')}/v1/${signal}` : text
}

function isExported(env: Env, signal: Signal, problems: string[]): boolean {
  const name = `OTEL_${signal.toUpperCase()}_EXPORTER`
  const text = env[name] || 'otlp'
  if (text !== 'otlp' && text !== 'none') problems.push(`${name} must be otlp or none`)
  return text === 'otlp'
}

function checkProtocol(env: Env, name: string, problems: string[]): void {
  const problem = `${name} must be http/protobuf: the service supports no other protocol; OTLP receivers accept it on port 4318`
  if ((env[name] || 'http/protobuf') !== 'http/protobuf' && !problems.includes(problem))
    problems.push(problem)
}

function readCompression(env: Env, name: string, problems: string[]): 'gzip' | 'none' {
  const text = env[name] || 'none'
  if (text === 'gzip' || text === 'none') return text
  const problem = `${name} must be gzip or none`
  if (!problems.includes(problem)) problems.push(problem)
  return 'none'
}

function readSampler(env: Env, problems: string[]): SamplerSettings {
  const text = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const name = SAMPLERS.find((known) => known === text)
  if (name === undefined) problems.push(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}`)
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || '1')
  const isRatio = ratio >= 0 && ratio <= 1
  if (name?.endsWith('traceidratio') && !isRatio)
    problems.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  return { name: name ?? 'parentbased_always_on', ratio: isRatio ? ratio : 1 }
}

/**
 * Reads `name=value` pairs with commas, whose values are percent-encoded. The problem does not repeat the
 * text: headers are secrets.
 */
function readPairs(env: Env, name: string, problems: string[]): Record<string, string> {
  const pairs: [string, string][] = []
  for (const part of (env[name] ?? '').split(',').filter((text) => text.trim() !== '')) {
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? []
    const decoded = value === undefined ? undefined : decode(value)
    if (key !== undefined && decoded !== undefined) pairs.push([key, decoded])
    else reportPairs(name, problems)
  }
  return Object.fromEntries(pairs)
}

function reportPairs(name: string, problems: string[]): void {
  const problem = `${name} must be a list such as name=value,other=value, with percent-encoded values`
  if (!problems.includes(problem)) problems.push(problem)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function readNumber(
  env: Env,
  name: string,
  [otherwise, least, most]: readonly [number, number, number],
  problems: string[],
): number {
  const text = env[name]
  if (!text) return otherwise
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const problem = `${name} must be a whole number from ${least} to ${most}`
  if (!problems.includes(problem)) problems.push(problem)
  return otherwise
}
