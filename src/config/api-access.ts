import { ConfigError, MissingConfigError } from '../lib/fields.ts'
import { loadConfig } from './load.ts'
import type { Config } from './types.ts'

/** The address of a service and an API key for it, for commands that call it over HTTP. */
export interface ApiAccess {
  /** Without a trailing slash, e.g. `http://127.0.0.1:8080`. */
  readonly url: string
  readonly apiKey: string
}

/** Addresses to listen on that are no address to connect to, and what reaches them from this machine. */
const LOCAL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }

/** Returns the url at which this machine reaches the service of a configuration. */
export function localUrl({ host, port }: Pick<Config['server'], 'host' | 'port'>): string {
  return `http://${LOCAL[host] ?? (host.includes(':') ? `[${host}]` : host)}:${port}`
}

/**
 * Reads which service to call, and with which key. `RELAYER_URL` names the service; without it, it is that of
 * the configuration in this folder. `RELAYER_API_KEY` is the key; without it, the service of the
 * configuration gets its `API_KEY`, and no other program of this machine does.
 * @throws ConfigError if a key for another service is missing, or the URL is invalid
 * @throws MissingConfigError if a configuration is needed and there is none
 */
export function readApiAccess(env: NodeJS.ProcessEnv = process.env): ApiAccess {
  const { RELAYER_URL: url = '', RELAYER_API_KEY: apiKey = '' } = env
  if (url === '') return { ...ofConfiguration(env), ...(apiKey !== '' && { apiKey }) }
  if (!/^https?:\/\/[^\s]+$/.test(url) || !URL.canParse(url))
    throw new ConfigError(['RELAYER_URL must be the http:// or https:// url of a service'])
  const service = url.replace(/\/+$/, '')
  if (apiKey !== '') return { url: service, apiKey }
  const own = isLoopback(new URL(url).hostname) ? ofConfiguration(env) : undefined
  if (own !== undefined && new URL(own.url).port === new URL(url).port) return { ...own, url: service }
  const other = own === undefined ? '' : `. The configuration in this folder is for ${own.url}`
  throw new ConfigError([`RELAYER_API_KEY is missing: an API key of the service at RELAYER_URL${other}`])
}

/**
 * Reads the configuration in this folder, for commands that can also ask a service. Undefined if there is
 * none and `RELAYER_URL` names a service.
 * @throws MissingConfigError if there is neither @throws ConfigError
 */
export function findConfig(env: NodeJS.ProcessEnv = process.env): Config | undefined {
  try {
    return loadConfig(env)
  } catch (error) {
    if (error instanceof MissingConfigError && env.RELAYER_URL) return undefined
    throw error
  }
}

/**
 * Reads the URL of thirdweb Engine's database from Engine's own variable. @throws ConfigError if it is
 * absent, or no URL of PostgreSQL
 */
export function readEngineUrl(env: NodeJS.ProcessEnv = process.env): string {
  const { POSTGRES_CONNECTION_URL: url = '' } = env
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return url
  throw new ConfigError([
    "POSTGRES_CONNECTION_URL must be the postgres:// url of Engine's database, as in its own configuration. It is no argument, because other users of this machine can read those",
  ])
}

/**
 * Reads with which key OpenZeppelin Relayer encrypts its records, and under which prefix it keeps them, from
 * its own variables. Undefined without a key. @throws ConfigError if the key is not one
 */
export function readOpenZeppelinStorage(
  env: NodeJS.ProcessEnv = process.env,
): { readonly key: Uint8Array; readonly prefix: string } | undefined {
  const { STORAGE_ENCRYPTION_KEY: text = '', REDIS_KEY_PREFIX: prefix = 'oz-relayer' } = env
  if (text === '') return undefined
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32)
    throw new ConfigError(['STORAGE_ENCRYPTION_KEY must be 32 bytes in base64, as in the old service'])
  return { key, prefix }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

function ofConfiguration(env: NodeJS.ProcessEnv): ApiAccess {
  const { server, apiKeys } = loadConfig(env)
  const [apiKey = ''] = apiKeys
  return { url: localUrl(server), apiKey }
}
