import type { Answer } from '../chains/answer.ts'
import type { HttpPrice } from '../chains/sponsoring.ts'
import type { HttpClient } from '../lib/http/http-client.ts'
import { type PriceSample, parseDecimal } from './price.ts'

/** A price that takes longer is no price, in ms. */
const TIMEOUT_MS = 3_000

/** The largest response that is read, in bytes. */
export const MAX_PRICE_BYTES = 64 * 1024

/** Requests the JSON of a source, and reads the price in it. */
export async function readHttpPrice(
  http: HttpClient,
  { url, pointer, time_pointer }: HttpPrice,
  now: number,
): Promise<Answer<PriceSample>> {
  const answer = await requestJson(http, url)
  if (answer.kind !== 'ok') return answer
  const document = answer.value
  const price = parseDecimal(String(find(document, pointer)))
  if (price === undefined) return unusable(url, `has no positive number at ${pointer}`)
  const at = time_pointer === undefined ? new Date(now) : readTime(find(document, time_pointer))
  if (at === undefined) return unusable(url, `has no time at ${time_pointer}`)
  return { kind: 'ok', value: { ...price, at } }
}

/** Requests a document of a source, whose numbers are the texts that were sent. */
export async function requestJson(http: HttpClient, url: string): Promise<Answer<unknown>> {
  try {
    const { status, body } = await http.post({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      body: '',
      timeoutMs: TIMEOUT_MS,
    })
    if (status !== 200) return unusable(url, `answered with status ${status}`)
    return { kind: 'ok', value: parseExact(body) }
  } catch {
    // Refused, too late, too long, no JSON, or an address that must not be reached. None of it is a price.
    return unusable(url, 'did not answer with JSON in time')
  }
}

/** Providers put keys into the path and the query, so only the host is named. */
export function unusable(url: string, problem: string): Answer<never> {
  return { kind: 'unknown', detail: `the price source ${new URL(url).host} ${problem}` }
}

/** Parses JSON, with every number as the text that was sent: a double would round it. */
function parseExact(body: string): unknown {
  const exact = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value
  return JSON.parse(body, exact as (key: string, value: unknown) => unknown)
}

/** Follows a JSON pointer (RFC 6901); undefined if it leads nowhere. */
export function find(document: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduce<unknown>((value, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Readonly<Record<string, unknown>>)[key]
      : undefined
  }, document)
}

/** A number of at least this many is a time in ms: as seconds it would be in the year 5138. */
const LEAST_MS = 100_000_000_000

export function readTime(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined
  const number = /^[0-9]{1,15}(\.[0-9]+)?$/.test(value) ? Number(value) : undefined
  const at = number === undefined ? new Date(value) : new Date(number < LEAST_MS ? number * 1_000 : number)
  return Number.isNaN(at.getTime()) ? undefined : at
}
