import { rpcUrl, whole } from '../lib/fields/field-types.ts'
import { openReader, type Reader } from '../lib/fields/reader.ts'
import type { RpcUrl } from './network.ts'

const DEFAULT_WEIGHT = 100
const WEIGHT = { ...whole(0, 100), blank: DEFAULT_WEIGHT }

/**
 * Reads a list of urls, each a text or `{ url, weight }` with a weight from 0 (never asked) to 100 (default). At least one must be
 * `http(s)://`: over `ws(s)://` the service only hears of new blocks.
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
    reader.problem(`has only WebSocket urls in "${key}": one http:// or https:// url is needed besides`)
  } else if (asked.length > 0 && asked.every(({ weight }) => weight === 0)) {
    reader.problem(`has only weight 0 in "${key}": no url may be asked`)
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
