import { ConfigError } from '../lib/fields.ts'
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
 * Reads which service to call: that of `RELAYER_URL` with the key `RELAYER_API_KEY`, or else that of the configuration in this folder, with
 * its `API_KEY`. A service on this machine gets that key, too, if `RELAYER_API_KEY` is absent. @throws ConfigError if a key for another machine is
 * missing, or the URL is absent or invalid @throws MissingConfigError if a configuration is needed and there is none
 */
export function readApiAccess(env: NodeJS.ProcessEnv = process.env): ApiAccess {
  const { RELAYER_URL: url = '', RELAYER_API_KEY: apiKey = '' } = env
  if (url === '' && apiKey === '') return ofConfiguration()
  if (!/^https?:\/\/[^\s]+$/.test(url) || !URL.canParse(url))
    throw new ConfigError(['RELAYER_URL must be the http:// or https:// url of a service'])
  const service = url.replace(/\/+$/, '')
  if (apiKey !== '') return { url: service, apiKey }
  if (isLoopback(new URL(url).hostname)) return { ...ofConfiguration(), url: service }
  throw new ConfigError(['RELAYER_API_KEY is missing: an API key of the service at RELAYER_URL'])
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

function ofConfiguration(): ApiAccess {
  const { server, apiKeys } = loadConfig()
  const [apiKey = ''] = apiKeys
  return { url: localUrl(server), apiKey }
}
