import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { maskUrl } from '../../src/lib/http/mask-url.ts'
import { createLogger, maskUrls } from '../../src/log.ts'
import { goodFile, load, problemsOf, SECRET } from './fixture.ts'

/** What a log line contains. */
function sourceAccountOf(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines = new PassThrough()
  write(createLogger({ level: 'info' }, lines))
  return String(lines.read())
}

describe('a log line', () => {
  test.each<[string, object]>([
    ['an authorization header', { req: { headers: { authorization: 'Bearer HIDE' } } }],
    ['an API key', { apiKey: 'HIDE' }],
    ['keys one level down', { config: { apiKeys: ['HIDE'] } }],
    ['a passphrase', { signer: { passphrase: 'HIDE' } }],
    ['a signing key as the wire spells it', { notification: { signing_key: 'HIDE' } }],
    ['the url of an error', { err: new Error('POST https://user:HIDE@rpc.example/v3/HIDE?key=HIDE failed') }],
    ['a cause', { err: new Error('outer', { cause: new Error('postgres://u:HIDE@db.example/x') }) }],
    ['what clients hang on errors', { err: Object.assign(new Error('x'), { config: { headers: 'HIDE' } }) }],
  ])('does not contain %s', (_what, fields) => {
    const line = sourceAccountOf((log) => log.info(fields, 'message'))
    expect(line).toContain('"msg":"message"')
    expect(line).not.toContain('HIDE')
  })

  test('keeps what helps: code, message, host', () => {
    const err = Object.assign(new Error('GET https://rpc.example/v3/k failed'), { code: 'ECONNRESET' })
    const line = JSON.parse(sourceAccountOf((log) => log.error({ err }, 'call failed')))
    expect(line).toMatchObject({
      level: 'error',
      msg: 'call failed',
      err: { type: 'Error', code: 'ECONNRESET', message: 'GET https://rpc.example/*** failed' },
    })
  })
})

test.each([
  ['https://user:pass@rpc.example:8443/v3/key?x=y', 'https://rpc.example:8443/***'],
  ['https://user:pass@rpc.example:8443', 'https://rpc.example:8443/***'],
  ['https://rpc.example/v3/key', 'https://rpc.example/***'],
  ['https://rpc.example?key=k', 'https://rpc.example/***'],
  ['https://rpc.example/#k', 'https://rpc.example/***'],
  ['http://127.0.0.1:8545', 'http://127.0.0.1:8545'],
  ['HTTP://rpc.example/', 'http://rpc.example'],
  ['no url', '***'],
])('maskUrl shows of %s only the host, and that something is hidden', (url, shown) => {
  expect(maskUrl(url)).toBe(shown)
})

test.each([
  [
    'at wss://a.example/key, then "https://b.example?k=v"',
    'at wss://a.example/*** then "https://b.example/***"',
  ],
  ['postgres://u:p%40ss@db:5432/x', 'postgres://db:5432/***'],
  ['HTTPS://rpc.example/key failed', 'HTTPS://rpc.example/*** failed'],
  ['http://127.0.0.1:8545: timed out', 'http://127.0.0.1:8545: timed out'],
  ['from http://127.0.0.1:8545/, twice', 'from http://127.0.0.1:8545/, twice'],
  ['https://user@rpc.example', 'https://rpc.example/***'],
  ['nothing to hide', 'nothing to hide'],
])('maskUrls turns %s into %s', (text, masked) => {
  expect(maskUrls(text)).toBe(masked)
})

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

function telemetryOf(env: Record<string, string>) {
  return load({ file: goodFile(), env }).telemetry
}

describe('telemetry is off', () => {
  test.each([
    ['without an endpoint', { OTEL_SERVICE_NAME: 'relayer', OTEL_TRACES_EXPORTER: 'otlp' }],
    ['with an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    ['when the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
    [
      'when no signal is exported',
      {
        ...ENDPOINT,
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      },
    ],
  ])('%s', (_what, env) => {
    expect(telemetryOf(env)).toBeUndefined()
  })
})

test('an endpoint for all signals has the documented defaults', () => {
  const signal = { headers: {}, timeoutMs: 10_000, compression: 'none' }
  const queue = { maxSize: 2048, maxBatch: 512 }
  expect(telemetryOf(ENDPOINT)).toEqual({
    serviceName: 'relayer',
    attributes: {},
    traces: {
      ...signal,
      url: 'http://collector:4318/v1/traces',
      sampler: { name: 'parentbased_always_on', ratio: 1 },
      queue: { ...queue, delayMs: 5000 },
    },
    metrics: { ...signal, url: 'http://collector:4318/v1/metrics', intervalMs: 60_000 },
    logs: { ...signal, url: 'http://collector:4318/v1/logs', queue: { ...queue, delayMs: 1000 } },
  })
})

test('the variables of one signal count before those of all, and its endpoint is the whole url', () => {
  const telemetry = telemetryOf({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://tempo.example/otlp',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=of-all',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: `authorization=Bearer%20${SECRET}, x-scope = one`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=payments,deployment.environment.name=pro%2Fd',
  })
  expect(telemetry).toMatchObject({
    serviceName: 'payments',
    attributes: { 'deployment.environment.name': 'pro/d' },
    traces: {
      url: 'https://tempo.example/otlp',
      timeoutMs: 500,
      compression: 'gzip',
      sampler: { name: 'parentbased_traceidratio', ratio: 0.25 },
    },
  })
  expect(telemetry?.metrics).toBeUndefined()
  expect(telemetry?.logs).toBeUndefined()
  const headers = Object.entries(telemetry?.traces?.headers ?? {})
  expect(headers.map(([name, secret]) => [name, secret.reveal()])).toEqual([
    ['authorization', `Bearer ${SECRET}`],
    ['x-scope', 'one'],
  ])
  expect(JSON.stringify(telemetry)).not.toContain(SECRET)
})

describe('a start is refused with exactly one reason and no secret', () => {
  test.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a url that starts with http:// or https://, such as http://localhost:4318',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf: the service supports no other protocol; OTLP receivers accept it on port 4318',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: SECRET },
      'OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,other=value, with percent-encoded values',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_COMPRESSION: 'br' },
      'OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_TIMEOUT: '10s' },
      'OTEL_EXPORTER_OTLP_TIMEOUT must be a whole number from 1 to 600000',
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'jaeger_remote' },
      'OTEL_TRACES_SAMPLER must be one of parentbased_always_on, parentbased_always_off, parentbased_traceidratio, always_on, always_off, traceidratio',
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
    ],
    [{ ...ENDPOINT, OTEL_LOGS_EXPORTER: 'console' }, 'OTEL_LOGS_EXPORTER must be otlp or none'],
    [{ OTEL_SDK_DISABLED: 'yes' }, 'OTEL_SDK_DISABLED must be true or false'],
    [
      { ...ENDPOINT, OTEL_BSP_MAX_QUEUE_SIZE: '0' },
      'OTEL_BSP_MAX_QUEUE_SIZE must be a whole number from 1 to 1000000',
    ],
  ])('%j', (env, problem) => {
    expect(problemsOf({ file: goodFile(), env: env as unknown as Record<string, string> })).toEqual([problem])
  })
})
