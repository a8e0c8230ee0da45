import type { Answer } from '../chains/answer.ts'
import type { Sponsoring } from '../chains/capabilities.ts'
import type { JupiterPrice, PythPrice } from '../chains/sponsoring.ts'
import type { HttpClient } from '../lib/http/http-client.ts'
import { find, readTime, requestJson, unusable } from './http-price.ts'
import { PERCENT_UNIT, type PriceSample, parseDecimal, percentUnits } from './price.ts'

// Both APIs tell prices in dollars, so a coin costs the quotient of two of them in the token.

/** The mint of wrapped SOL, as which Jupiter has its price. */
const SOL = 'So11111111111111111111111111111111111111112'

interface Tools {
  readonly http: HttpClient
  readonly chain: Pick<Sponsoring, 'blockAge'>
  readonly now: number
}

/**
 * Reads the price of SOL in a token from Jupiter. It names the block of each price, so the older of both is
 * the time of the quotient.
 */
export async function readJupiterPrice(
  { url }: JupiterPrice,
  mint: string | undefined,
  { http, chain, now }: Tools,
): Promise<Answer<PriceSample>> {
  if (mint === undefined || chain.blockAge === undefined)
    return { kind: 'unknown', detail: 'Jupiter has prices of tokens on Solana alone' }
  const answer = await requestJson(http, `${withoutSlash(url)}/price/v3?ids=${SOL},${mint}`)
  if (answer.kind !== 'ok') return answer
  const told = [SOL, mint].map((one) => ({
    price: parseDecimal(String(find(answer.value, `/${one}/usdPrice`))),
    block: /^[0-9]{1,18}$/.exec(String(find(answer.value, `/${one}/blockId`)))?.[0],
  }))
  const [coin, token] = told
  if (coin?.price === undefined || token?.price === undefined)
    return unusable(url, `has no price of ${coin?.price === undefined ? 'SOL' : mint}`)
  let age = 0
  for (const { block } of told) {
    const known = block === undefined ? undefined : chain.blockAge(BigInt(block))
    if (known?.kind !== 'ok') return unusable(url, 'names no block that the network has')
    age = Math.max(age, known.value)
  }
  return {
    kind: 'ok',
    value: {
      numerator: coin.price.numerator * token.price.denominator,
      denominator: coin.price.denominator * token.price.numerator,
      at: new Date(now - age),
    },
  }
}

/** The confidence interval that a configuration without one allows, in percent of the price. */
const DEFAULT_CONFIDENCE_PERCENT = 2

/** Prices with more digits than this are nonsense. */
const MAX_EXPONENT = 18

interface Feed {
  readonly price: bigint
  readonly confidence: bigint
  readonly exponent: number
  readonly at: Date
}

/**
 * Reads the price of a coin in a token from Pyth. Both prices count at the end of their confidence interval
 * at which the token is cheaper, so that the relayer does not pay for the uncertainty.
 */
export async function readPythPrice(
  { url, native, token, max_confidence_percentage: most = DEFAULT_CONFIDENCE_PERCENT }: PythPrice,
  { http, now }: Pick<Tools, 'http' | 'now'>,
): Promise<Answer<PriceSample>> {
  const ids = token === undefined ? [native] : [native, token]
  const query = ids.map((id) => `ids[]=${withoutPrefix(id)}`).join('&')
  const answer = await requestJson(http, `${withoutSlash(url)}/v2/updates/price/latest?${query}&parsed=true`)
  if (answer.kind !== 'ok') return answer
  const parsed = find(answer.value, '/parsed')
  const feeds = ids.map((id) => readFeed(parsed, withoutPrefix(id)))
  const missing = ids.find((_, index) => feeds[index] === undefined)
  if (missing !== undefined) return unusable(url, `has no price of the feed ${missing}`)
  const [coin, unit] = feeds
  const vague = feeds.find((feed) => feed && isVague(feed, most))
  if (coin === undefined || vague !== undefined)
    return unusable(url, `has a price that is uncertain by more than ${most} percent`)
  const above = coin.price + coin.confidence
  const below = unit === undefined ? 1n : unit.price - unit.confidence
  const exponent = coin.exponent - (unit?.exponent ?? 0)
  const scale = 10n ** BigInt(Math.abs(exponent))
  return {
    kind: 'ok',
    value: {
      numerator: exponent > 0 ? above * scale : above,
      denominator: exponent > 0 ? below : below * scale,
      at: furthest([coin.at, ...(unit ? [unit.at] : [])], now),
    },
  }
}

/** A time to come is as wrong as one long ago, so the one that is further from now counts. */
function furthest(times: readonly Date[], now: number): Date {
  const distance = (time: Date) => Math.abs(time.getTime() - now)
  return times.reduce((one, other) => (distance(other) > distance(one) ? other : one))
}

/** An interval of the whole price or more is vague in any case: the token would cost nothing. */
function isVague({ price, confidence }: Feed, percent: number): boolean {
  return confidence >= price || confidence * 100n * PERCENT_UNIT > price * percentUnits(percent)
}

function readFeed(parsed: unknown, id: string): Feed | undefined {
  const entry = Array.isArray(parsed)
    ? parsed.find((one: unknown) => withoutPrefix(String(find(one, '/id'))) === id)
    : undefined
  const at = readTime(find(entry, '/price/publish_time'))
  const [price, confidence, exponent] = ['price', 'conf', 'expo'].map((name) =>
    String(find(entry, `/price/${name}`)),
  )
  const isWhole = /^[0-9]{1,30}$/.test(price ?? '') && /^[0-9]{1,30}$/.test(confidence ?? '')
  if (at === undefined || !isWhole || !/^-?[0-9]{1,2}$/.test(exponent ?? '')) return undefined
  const feed = {
    price: BigInt(price ?? 0),
    confidence: BigInt(confidence ?? 0),
    exponent: Number(exponent),
    at,
  }
  return feed.price > 0n && Math.abs(feed.exponent) <= MAX_EXPONENT ? feed : undefined
}

function withoutPrefix(id: string): string {
  return id.toLowerCase().replace(/^0x/, '')
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
