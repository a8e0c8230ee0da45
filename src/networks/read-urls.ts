import { httpUrl, oneOf, openReader, type Reader, rpcUrl, whole } from '../lib/fields.ts'
import { isMasked } from '../lib/http/mask-url.ts'
import { type AddressPolicy, untrustedUrlProblem } from '../security/guarded-http-client.ts'
import { PRIVATE_METHODS, type PrivateRpcUrl, type RpcUrl } from './network.ts'

const DEFAULT_WEIGHT = 100
const WEIGHT = { ...whole(0, 100), blank: DEFAULT_WEIGHT }

/**
 * Reads a list of urls, each a text or `{ url, weight }` with a weight from 0 (never asked) to 100 (default).
 * At least one must be `http(s)://`: over `ws(s)://` the service only hears of new blocks.
 */
export function readRpcUrls(reader: Reader, key: string, problems: string[]): RpcUrl[] {
  const urls = reader.items(key).flatMap(({ value, path }): RpcUrl[] => {
    if (typeof value === 'object') return readWeighted(value, path, problems)
    const url = rpcUrl.read(value)
    if (url !== undefined) return [{ url, weight: DEFAULT_WEIGHT }]
    problems.push(`${path} must be ${rpcUrl.expected}, or { "url", "weight" }`)
    return []
  })
  const asked = urls.filter(({ url }) => !/^wss?:/i.test(url))
  if (urls.length > 0 && asked.length === 0) {
    reader.problem(`has only WebSocket urls in "${key}": one http:// or https:// URL is also needed`)
  } else if (asked.length > 0 && asked.every(({ weight }) => weight === 0)) {
    reader.problem(`has only weight 0 in "${key}": no URL could be used`)
  }
  return urls
}

function readWeighted(value: unknown, path: string, problems: string[]): RpcUrl[] {
  const reader = openReader(value, path, problems)
  if (!reader) return []
  const url = reader.get('url', rpcUrl)
  const weight = reader.find('weight', WEIGHT) ?? DEFAULT_WEIGHT
  reader.finish()
  return [{ url, weight }]
}

const [DEFAULT_METHOD] = PRIVATE_METHODS

/**
 * Reads a list of private endpoints, each a url or `{ url, method }`; the method is `eth_sendRawTransaction`
 * if absent.
 */
export function readPrivateRpcUrls(reader: Reader, key: string, problems: string[]): PrivateRpcUrl[] {
  return reader.items(key).flatMap(({ value, path }): PrivateRpcUrl[] => {
    if (typeof value === 'object') return readWithMethod(value, path, problems)
    const url = httpUrl.read(value)
    if (url !== undefined) return [{ url, method: DEFAULT_METHOD }]
    problems.push(`${path} must be ${httpUrl.expected}, or { "url", "method" }`)
    return []
  })
}

function readWithMethod(value: unknown, path: string, problems: string[]): PrivateRpcUrl[] {
  const reader = openReader(value, path, problems)
  if (!reader) return []
  const url = reader.get('url', httpUrl)
  const method = reader.find('method', oneOf(...PRIVATE_METHODS)) ?? DEFAULT_METHOD
  reader.finish()
  return [{ url, method }]
}

/**
 * Informs a caller that the chain of some URLs could not be checked. Silence is no reason to refuse them
 * (I6).
 */
export function silentEndpoints(field: string, rpcUrls: readonly RpcUrl[]): string {
  // Endpoints of weight 0 are never used.
  const hosts = [...new Set(rpcUrls.flatMap(({ url, weight }) => (weight > 0 ? [new URL(url).host] : [])))]
  const asked = hosts.length === 1 ? `${hosts[0]} did not answer` : `none of ${hosts.join(', ')} answered`
  return `${field}: ${asked} in time, so their chain is not known yet; the service uses the URLs and keeps checking.`
}

/**
 * Returns the problem of an RPC url that a caller of the API chose, to follow the name of its field;
 * undefined for a good url.
 */
export function untrustedRpcUrlProblem(url: string, policy: AddressPolicy): string | undefined {
  if (isMasked(url)) return 'expected the full URL, not a masked one from a response; or omit the field'
  return untrustedUrlProblem(url, policy)
}
