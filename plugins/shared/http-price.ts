import type { Fields } from './fields.ts'
import { isRecord, Unavailable } from './host.ts'
import { requestText } from './http-text.ts'
import { type Price, parseDecimal } from './prices.ts'

/** A URL that answers GET with JSON, and where in it the price is, by JSON pointers (RFC 6901). */
export interface HttpPrice {
  readonly url: string
  readonly pointer: string
  /** Where the time of the price is; undefined if the answer has none, and counts as of now. */
  readonly timePointer: string | undefined
  readonly maxAgeSeconds: number
}

const DEFAULT_MAX_AGE_SECONDS = 60

/** Reads the fields of such a source; the caller refuses other fields. Throws a sentence. */
export function readHttpSource(path: string, fields: Fields): HttpPrice {
  const url = fields.text('url', /^https?:\/\/.{1,1000}$/)
  if (!URL.canParse(url)) throw new Error(`${path}.url: expected a URL.`)
  return {
    url,
    pointer: fields.text('pointer', /^\/.{0,200}$/),
    timePointer:
      fields.any('time_pointer') === undefined ? undefined : fields.text('time_pointer', /^\/.{0,200}$/),
    maxAgeSeconds: fields.integer('max_age_seconds', 1, 604_800) ?? DEFAULT_MAX_AGE_SECONDS,
  }
}

/** A price that takes longer is no price, in ms. */
const TIMEOUT_MS = 3_000

/** The longest answer that is read, in characters. */
const MAX_ANSWER = 65_536

/** The clock of a source may be ahead by this much, in seconds. A price of later than that is a mistake. */
const AHEAD_SECONDS = 60

/** Asks for the price. The host alone is named in errors, because paths have keys. @throws Unavailable */
export async function askHttp(
  { url, pointer, timePointer, maxAgeSeconds }: HttpPrice,
  now: number,
): Promise<Price> {
  const unusable = (problem: string) => new Unavailable(`The price source ${new URL(url).host} ${problem}.`)
  const document = await requestJson(url).catch(() => {
    throw unusable('did not answer with JSON in time')
  })
  const price = parseDecimal(String(find(document, pointer)))
  if (price === undefined) throw unusable(`has no positive number at ${pointer}`)
  if (timePointer === undefined) return price
  const at = readTime(find(document, timePointer))
  if (at === undefined) throw unusable(`has no time at ${timePointer}`)
  const age = Math.floor((now - at) / 1000)
  if (age > maxAgeSeconds || age < -AHEAD_SECONDS)
    throw unusable(`has a price that is ${age} s old; at most ${maxAgeSeconds} s are accepted`)
  return price
}

async function requestJson(url: string): Promise<unknown> {
  const text = await requestText(url, { timeoutMs: TIMEOUT_MS, maxCharacters: MAX_ANSWER })
  // Numbers stay the texts that were sent: a double would round them.
  const exact = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown)
}

function find(document: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduce<unknown>((value, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) return value[Number(key)]
    return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, document)
}

/** A number of at least this many is a time in ms: as seconds it would be in the year 5138. */
const LEAST_MS = 100_000_000_000

/** Reads a time in milliseconds since 1970: a text of RFC 3339, or seconds or milliseconds since then. */
function readTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const number = /^[0-9]{1,15}(\.[0-9]+)?$/.test(value) ? Number(value) : Number.NaN
  const at = Number.isNaN(number) ? Date.parse(value) : number < LEAST_MS ? number * 1000 : number
  return Number.isNaN(at) ? undefined : at
}
