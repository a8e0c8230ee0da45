import type { Hex } from 'viem'
import { Fields } from '../../shared/fields.ts'

/** Tokens for one coin, as a fraction of whole tokens and coins. Both parts are positive. */
export interface Price {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** A feed of Chainlink, and how old its answer may be: as long as that feed itself may wait. */
export interface Feed {
  readonly address: Hex
  readonly maxAgeSeconds: number
}

/** A pool of Uniswap v3 of the token and the wrapped coin. Addresses are in lower case. */
export interface Pool {
  readonly address: Hex
  /** The wrapped coin. */
  readonly coin: Hex
  /** The time whose mean counts. */
  readonly seconds: number
  /** The least liquidity in that time, as the pool counts it; 0 for any. */
  readonly minLiquidity: bigint
}

/**
 * Where a price comes from: the operator says it, two feeds tell what the coin and the token are worth, or a
 * pool for what they were exchanged.
 */
export type PriceSource =
  | { readonly type: 'fixed'; readonly price: Price }
  | { readonly type: 'chainlink'; readonly coin: Feed; readonly token: Feed }
  | { readonly type: 'uniswap_v3'; readonly pool: Pool }

/** A token in which users pay. */
export interface FeeToken {
  readonly address: Hex
  readonly decimals: number
  /** All must answer, and agree. */
  readonly sources: readonly PriceSource[]
  readonly maxDifferencePercent: number
}

/** Two sources may differ by so much if the operator says nothing. */
const DEFAULT_MAX_DIFFERENCE_PERCENT = 2

/** Reads a token. Throws a sentence that names the wrong field. */
export function readFeeToken(path: string, value: unknown): FeeToken {
  const fields = new Fields(path, value)
  const decimals = fields.integer('decimals', 0, 36)
  if (decimals === undefined) throw new Error(`${path}.decimals: expected an integer.`)
  const price = fields.fields('price')
  const sources = price?.list('sources') ?? []
  if (sources.length === 0) throw new Error(`${path}.price.sources: name at least one.`)
  const token = {
    address: addressIn(path, fields, 'address'),
    decimals,
    sources: sources.map((each, index) => readSource(`${path}.price.sources[${index}]`, each)),
    maxDifferencePercent:
      price?.integer('max_difference_percentage', 0, 50) ?? DEFAULT_MAX_DIFFERENCE_PERCENT,
  }
  price?.refuseOthers()
  fields.refuseOthers()
  return token
}

function readSource(path: string, value: unknown): PriceSource {
  const fields = new Fields(path, value)
  const type = fields.word('type', ['fixed', 'chainlink', 'uniswap_v3'])
  if (type === undefined) throw new Error(`${path}.type: expected fixed, chainlink or uniswap_v3.`)
  const source = sourceOf(type, path, fields)
  fields.refuseOthers()
  return source
}

function sourceOf(type: PriceSource['type'], path: string, fields: Fields): PriceSource {
  if (type === 'fixed') return { type, price: parseDecimal(path, fields.optionalText('price')) }
  if (type === 'chainlink')
    return { type, coin: readFeed(path, fields, 'coin'), token: readFeed(path, fields, 'token') }
  return { type, pool: readPool(path, fields) }
}

/** A mean over less can be moved by who holds the pool for a few blocks. */
const LEAST_POOL_SECONDS = 300

/** Half an hour, as most users of such a mean take. */
const DEFAULT_POOL_SECONDS = 1_800

/** A pool remembers a few days at most. */
const MAX_POOL_SECONDS = 604_800

function readPool(path: string, fields: Fields): Pool {
  const liquidity = fields.optionalText('min_liquidity')
  if (liquidity !== undefined && !/^\d{1,39}$/.test(liquidity))
    throw new Error(`${path}.min_liquidity: expected an integer as a text.`)
  return {
    address: addressIn(path, fields, 'pool'),
    coin: addressIn(path, fields, 'coin'),
    seconds: fields.integer('seconds', LEAST_POOL_SECONDS, MAX_POOL_SECONDS) ?? DEFAULT_POOL_SECONDS,
    minLiquidity: BigInt(liquidity ?? 0),
  }
}

function readFeed(path: string, fields: Fields, name: string): Feed {
  const feed = fields.fields(name)
  const maxAgeSeconds = feed?.integer('max_age_seconds', 1, 604_800)
  if (feed === undefined || maxAgeSeconds === undefined)
    throw new Error(`${path}.${name}: expected the address of a feed, and max_age_seconds.`)
  const address = addressIn(`${path}.${name}`, feed, 'address')
  feed.refuseOthers()
  return { address, maxAgeSeconds }
}

function addressIn(path: string, fields: Fields, name: string): Hex {
  const value = fields.optionalText(name)
  if (value !== undefined && /^0x[0-9a-f]{40}$/.test(value)) return value as Hex
  throw new Error(`${path}.${name}: expected an address, 0x and 40 hexadecimal digits.`)
}

function parseDecimal(path: string, text = ''): Price {
  const [, whole, fraction = ''] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const numerator = whole === undefined ? 0n : BigInt(whole + fraction)
  if (numerator === 0n) throw new Error(`${path}.price: expected the tokens for one coin, as a decimal text.`)
  return { numerator, denominator: 10n ** BigInt(fraction.length) }
}
