import { isAbsolute, resolve } from 'node:path'
import { DURABILITIES } from '../database/durability.ts'
import { PostgresUrlError, readPostgresUrl } from '../database/engines/postgres/postgres-url.ts'
import { isAddressRange } from '../lib/http/address-list.ts'
import { suggest } from '../lib/suggest.ts'
import { MAIL_VARIABLES, readMail } from '../notifications/receivers/mail-settings.ts'
import { createSecret, readSealingKey, type Secret } from '../security/secrets.ts'
import { readPluginUser } from './plugin-user.ts'
import { readPluginHost } from './plugins.ts'
import { readTelemetry } from './telemetry.ts'
import type { Config } from './types.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The part of the configuration that comes from the environment. */
export type Settings = Omit<
  Config,
  | 'file'
  | 'networks'
  | 'relayers'
  | 'apiMayRelax'
  | 'signers'
  | 'notifications'
  | 'plugins'
  | 'signIn'
  | 'secondPerson'
>

/** Whole numbers: name, default, least, most. */
const NUMBERS = {
  APP_PORT: [8080, 0, 65_535],
  MAX_CONNECTIONS: [4096, 1, 100_000],
  METRICS_PORT: [8081, 0, 65_535],
  RATE_LIMIT_BURST_SIZE: [300, 1, 1_000_000],
  RATE_LIMIT_REQUESTS_PER_SECOND: [100, 1, 1_000_000],
  RELAYER_DATABASE_WAIT_SECONDS: [60, 0, 3600],
  RELAYER_EVENT_RETENTION_DAYS: [30, 1, 3650],
  RELAYER_HEALTH_INTERVAL_SECONDS: [30, 5, 3600],
  RELAYER_KEY_SERVICE_CONCURRENCY: [50, 1, 1000],
  RELAYER_KEY_SERVICE_TIMEOUT_MS: [3_000, 100, 10_000],
  RELAYER_MAX_BODY_BYTES: [1_048_576, 1024, 104_857_600],
  RELAYER_MAX_CONNECTIONS_PER_PEER: [0, 0, 100_000],
  RELAYER_MAX_IN_FLIGHT: [16, 1, 10_000],
  RELAYER_MAX_STREAMS: [100, 1, 10_000],
  RELAYER_SHUTDOWN_GRACE_SECONDS: [2, 0, 300],
  RELAYER_SHUTDOWN_SECONDS: [25, 1, 600],
  RELAYER_TRANSACTION_RETENTION_DAYS: [0, 0, 3650],
  RELAYER_WEBHOOK_RETRY_HOURS: [24, 1, 720],
  RELAYER_WEBHOOK_TIMEOUT_SECONDS: [10, 1, 60],
  REQUEST_TIMEOUT_SECONDS: [30, 1, 3600],
  RPC_TIMEOUT_MS: [10_000, 100, 600_000],
} as const satisfies Record<string, readonly [number, number, number]>

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const MODES = ['production', 'development', 'test'] as const

const PREFIX = 'RELAYER_'

/** These variables are true or false, by default false. */
const FLAGS = ['METRICS_ENABLED', 'RELAYER_ALLOW_PRIVATE_URLS'] as const

/** These variables are lists with commas. */
const LISTS = ['RELAYER_CORS_ORIGINS', 'RELAYER_METRICS_HOSTS', 'RELAYER_TRUSTED_PROXIES'] as const

/** Existing deployments set them; they have no effect here. */
const IGNORED = ['RELAYER_CONCURRENCY_LIMIT']

/** The address of the service for people. */
const PUBLIC_URL = 'RELAYER_PUBLIC_URL'

/** Commands that call a service over HTTP read these; see `api-access.ts`. */
const OF_COMMANDS = ['RELAYER_URL', 'RELAYER_API_KEY']

/**
 * The variables of plugins: another host that runs them (`plugins.ts`), and the user of their processes
 * (`plugin-user.ts`).
 */
const OF_PLUGINS = [
  'RELAYER_PLUGINS_URL',
  'RELAYER_PLUGINS_SECRET',
  'RELAYER_PLUGINS_PORT',
  'RELAYER_PLUGINS_USER',
]

const MIN_API_KEY_LENGTH = 32

/** Reads and checks the variables; an empty one counts as absent. Relative folders count from `cwd`. */
export function readEnvironment(env: Env, cwd: string, problems: string[]): Settings {
  const number = (name: keyof typeof NUMBERS) => readNumber(env, name, problems)
  const transactionRetentionDays = number('RELAYER_TRANSACTION_RETENTION_DAYS')
  const apiKeys = readApiKeys(env, problems)
  const url = readDatabaseUrl(env, 'DATABASE_URL', problems)
  const directUrl = readDatabaseUrl(env, 'DATABASE_DIRECT_URL', problems)
  if (directUrl !== undefined && url === undefined)
    problems.push('DATABASE_DIRECT_URL needs DATABASE_URL: it names the same database without a pooler')
  const sealingKey = readStorageKey(env, problems)
  const metrics = readMetrics(env, number, problems)
  const telemetry = readTelemetry(env, problems)
  const mail = readMail(env, problems)
  const publicUrl = readPublicUrl(env, problems)
  const pluginHost = readPluginHost(env, problems)
  const pluginUser = readPluginUser(env, problems)
  return {
    mode: readChoice(env, { name: 'NODE_ENV', choices: MODES, otherwise: 'production' }, problems),
    logLevel: readChoice(env, { name: 'LOG_LEVEL', choices: LOG_LEVELS, otherwise: 'info' }, problems),
    server: {
      host: env.HOST || '0.0.0.0',
      port: number('APP_PORT'),
      maxConnections: number('MAX_CONNECTIONS'),
      maxConnectionsPerPeer: number('RELAYER_MAX_CONNECTIONS_PER_PEER'),
      trustedProxies: readAddresses(env, problems),
      corsOrigins: readOrigins(env, problems),
      console:
        readChoice(env, { name: 'CONSOLE', choices: ['on', 'off'], otherwise: 'on' }, problems) === 'on',
      requestTimeoutMs: number('REQUEST_TIMEOUT_SECONDS') * 1000,
      maxBodyBytes: number('RELAYER_MAX_BODY_BYTES'),
    },
    apiKeys,
    rateLimit: {
      perSecond: number('RATE_LIMIT_REQUESTS_PER_SECOND'),
      burst: number('RATE_LIMIT_BURST_SIZE'),
    },
    database: {
      ...(url !== undefined && { url }),
      ...(directUrl !== undefined && { directUrl }),
      dataDir: readDataDir(env, cwd),
      durability: readChoice(env, { name: 'DURABILITY', choices: DURABILITIES, otherwise: 'full' }, problems),
      waitMs: number('RELAYER_DATABASE_WAIT_SECONDS') * 1000,
    },
    rpcTimeoutMs: number('RPC_TIMEOUT_MS'),
    keyServices: {
      timeoutMs: number('RELAYER_KEY_SERVICE_TIMEOUT_MS'),
      concurrency: number('RELAYER_KEY_SERVICE_CONCURRENCY'),
    },
    maxInFlight: number('RELAYER_MAX_IN_FLIGHT'),
    shutdownMs: number('RELAYER_SHUTDOWN_SECONDS') * 1000,
    shutdownGraceMs: number('RELAYER_SHUTDOWN_GRACE_SECONDS') * 1000,
    healthIntervalMs: number('RELAYER_HEALTH_INTERVAL_SECONDS') * 1000,
    maxStreams: number('RELAYER_MAX_STREAMS'),
    eventRetentionMs: number('RELAYER_EVENT_RETENTION_DAYS') * 86_400_000,
    ...(transactionRetentionDays > 0 && { transactionRetentionMs: transactionRetentionDays * 86_400_000 }),
    webhooks: {
      timeoutMs: number('RELAYER_WEBHOOK_TIMEOUT_SECONDS') * 1000,
      retryMs: number('RELAYER_WEBHOOK_RETRY_HOURS') * 3_600_000,
    },
    allowPrivateUrls: readFlag(env, 'RELAYER_ALLOW_PRIVATE_URLS', problems),
    ...(sealingKey !== undefined && { sealingKey }),
    ...(metrics !== undefined && { metrics }),
    ...(telemetry !== undefined && { telemetry }),
    ...(mail !== undefined && { mail }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(pluginHost !== undefined && { pluginHost }),
    ...(pluginUser !== undefined && { pluginUser }),
  }
}

/** Names with our prefix that mean nothing: a mistyped setting would otherwise silently keep its default. */
export function unknownNames(env: Env, referred: ReadonlySet<string>): string[] {
  const ours = [...Object.keys(NUMBERS), ...FLAGS, ...LISTS].filter((name) => name.startsWith(PREFIX))
  const known = [...ours, ...MAIL_VARIABLES, PUBLIC_URL, ...IGNORED, ...OF_COMMANDS, ...OF_PLUGINS]
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !referred.has(name))
    .map((name) => `the environment variable ${name} is not known${suggest(name, known)}`)
}

function readNumber(env: Env, name: keyof typeof NUMBERS, problems: string[]): number {
  const [otherwise, least, most] = NUMBERS[name]
  const text = env[name]
  if (!text) return otherwise
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  problems.push(`${name} must be a whole number from ${least} to ${most}`)
  return otherwise
}

/**
 * The variables are checked even while the metrics are off, so that a typing error shows before they are
 * switched on.
 */
function readMetrics(
  env: Env,
  number: (name: 'METRICS_PORT') => number,
  problems: string[],
): Settings['metrics'] {
  const enabled = readFlag(env, 'METRICS_ENABLED', problems)
  const port = number('METRICS_PORT')
  const hostNames = readHostNames(env, problems)
  if (!enabled) return undefined
  if (port !== 0 && Number(env.APP_PORT || NUMBERS.APP_PORT[0]) === port)
    problems.push('METRICS_PORT and APP_PORT must not be the same')
  return { port, hostNames }
}

function readHostNames(env: Env, problems: string[]): string[] {
  const name = 'RELAYER_METRICS_HOSTS'
  const names = readList(env, name)
  if (!names.every((host) => host === '*' || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(host)))
    problems.push(`${name} must be a comma-separated list of host names without ports, or *`)
  return names
}

function readFlag(env: Env, name: (typeof FLAGS)[number], problems: string[]): boolean {
  return readChoice(env, { name, choices: ['true', 'false'], otherwise: 'false' }, problems) === 'true'
}

function readAddresses(env: Env, problems: string[]): string[] {
  const name = 'RELAYER_TRUSTED_PROXIES'
  const ranges = readList(env, name)
  if (!ranges.every(isAddressRange))
    problems.push(`${name} must be a comma-separated list of IP addresses and networks such as 10.0.0.0/8`)
  return ranges
}

/**
 * Origins are exact: a browser sends the one of its page in this spelling, and a pattern would admit
 * unintended pages.
 */
function readOrigins(env: Env, problems: string[]): string[] {
  const name = 'RELAYER_CORS_ORIGINS'
  const origins = readList(env, name)
  if (!origins.every(isWebOrigin))
    problems.push(
      `${name} must be a comma-separated list of origins such as https://app.example, without paths`,
    )
  return origins
}

function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** A slash at the end is removed, so that paths can follow. */
function readPublicUrl(env: Env, problems: string[]): string | undefined {
  const text = env[PUBLIC_URL]?.replace(/\/+$/, '')
  if (!text) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.href.replace(/\/$/, '') === text
  if (!isPlain || /[?#@|<>]/.test(text))
    problems.push(
      `${PUBLIC_URL} must be an http:// or https:// url without a query, such as https://relayer.example`,
    )
  return text
}

function readList(env: Env, name: (typeof LISTS)[number]): string[] {
  return (env[name] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

interface Choice<T extends string> {
  readonly name: string
  readonly choices: readonly T[]
  readonly otherwise: T
}

function readChoice<T extends string>(
  env: Env,
  { name, choices, otherwise }: Choice<T>,
  problems: string[],
): T {
  const text = env[name]
  if (!text) return otherwise
  const found = choices.find((choice) => choice === text.toLowerCase())
  if (found === undefined) problems.push(`${name} must be one of ${choices.join(', ')}`)
  return found ?? otherwise
}

/** During a rotation the applications may still use the previous key. */
function readApiKeys(env: Env, problems: string[]): string[] {
  const { API_KEY: key = '', API_KEY_PREVIOUS: previous = '' } = env
  if (key === '') problems.push(`API_KEY is missing: it must have at least ${MIN_API_KEY_LENGTH} characters`)
  else checkApiKey('API_KEY', key, problems)
  if (previous === '') return [key]
  checkApiKey('API_KEY_PREVIOUS', previous, problems)
  return [key, previous]
}

function checkApiKey(name: string, key: string, problems: string[]): void {
  if (key.length < MIN_API_KEY_LENGTH)
    problems.push(`${name} has ${key.length} characters, but must have at least ${MIN_API_KEY_LENGTH}`)
  else if (!/^[\x21-\x7e]+$/.test(key))
    problems.push(
      `${name} has characters that are not allowed in a header: use printable ASCII without spaces`,
    )
}

function readStorageKey(env: Env, problems: string[]): Secret | undefined {
  const key = env.STORAGE_ENCRYPTION_KEY
  if (!key) return undefined
  if (readSealingKey(key) !== undefined) return createSecret(key)
  problems.push('STORAGE_ENCRYPTION_KEY must be 32 bytes in base64 (44 characters)')
  return undefined
}

function readDatabaseUrl(
  env: Env,
  name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL',
  problems: string[],
): string | undefined {
  const url = env[name]
  if (!url) return undefined
  try {
    readPostgresUrl(url)
  } catch (error) {
    if (!(error instanceof PostgresUrlError)) throw error
    problems.push(`${name} ${error.message}`)
  }
  return url
}

function readDataDir(env: Env, cwd: string): string {
  const folder = env.DATA_DIR || './data'
  return folder === 'memory://' || isAbsolute(folder) ? folder : resolve(cwd, folder)
}
