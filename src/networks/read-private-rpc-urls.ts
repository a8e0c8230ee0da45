import { httpUrl, oneOf } from '../lib/fields/field-types.ts'
import { openReader, type Reader } from '../lib/fields/reader.ts'
import { PRIVATE_METHODS, type PrivateRpcUrl } from './network.ts'

const [DEFAULT_METHOD] = PRIVATE_METHODS

/** Reads a list of private endpoints, each a url or `{ url, method }`; the method is `eth_sendRawTransaction` when absent. */
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
