import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { Fields } from './fields.ts'
import { NodeError, type Rpc, Unavailable } from './host.ts'
import { type Price, parseDecimal } from './prices.ts'
import { type Pool, readPoolPrice } from './uniswap.ts'

/** A feed of Chainlink, and how old its answer may be: as long as that feed itself may wait. */
export interface Feed {
  readonly address: Hex
  readonly maxAgeSeconds: number
}

/**
 * Where a price on an EVM chain comes from: the operator says it, two feeds tell what the coin and the token
 * are worth, or a pool for what they were exchanged.
 */
export type EvmPriceSource =
  | { readonly type: 'fixed'; readonly price: Price }
  | { readonly type: 'chainlink'; readonly coin: Feed; readonly token: Feed }
  | { readonly type: 'uniswap_v3'; readonly pool: Pool }

/** The kinds of sources, as configurations name them. */
export const EVM_SOURCE_TYPES = ['fixed', 'chainlink', 'uniswap_v3'] as const

/** Reads the fields of a source of this type; the caller refuses other fields. Throws a sentence. */
export function readEvmSource(type: EvmPriceSource['type'], path: string, fields: Fields): EvmPriceSource {
  if (type === 'fixed') return { type, price: readFixedPrice(path, fields) }
  if (type === 'chainlink')
    return { type, coin: readFeed(path, fields, 'coin'), token: readFeed(path, fields, 'token') }
  return { type, pool: readPool(path, fields) }
}

/** Reads the field `price`: the tokens for one coin. Throws a sentence. */
export function readFixedPrice(path: string, fields: Fields): Price {
  const price = parseDecimal(fields.optionalText('price') ?? '')
  if (price !== undefined) return price
  throw new Error(`${path}.price: expected the tokens for one coin, as a decimal text.`)
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
    address: readEvmAddress(path, fields, 'pool'),
    coin: readEvmAddress(path, fields, 'coin'),
    seconds: fields.integer('seconds', LEAST_POOL_SECONDS, MAX_POOL_SECONDS) ?? DEFAULT_POOL_SECONDS,
    minLiquidity: BigInt(liquidity ?? 0),
  }
}

function readFeed(path: string, fields: Fields, name: string): Feed {
  const feed = fields.fields(name)
  const maxAgeSeconds = feed?.integer('max_age_seconds', 1, 604_800)
  if (feed === undefined || maxAgeSeconds === undefined)
    throw new Error(`${path}.${name}: expected the address of a feed, and max_age_seconds.`)
  const address = readEvmAddress(`${path}.${name}`, feed, 'address')
  feed.refuseOthers()
  return { address, maxAgeSeconds }
}

/** Reads an address in lower case. Throws a sentence. */
export function readEvmAddress(path: string, fields: Fields, name: string): Hex {
  const value = fields.optionalText(name)
  if (value !== undefined && /^0x[0-9a-f]{40}$/.test(value)) return value as Hex
  throw new Error(`${path}.${name}: expected an address, 0x and 40 hexadecimal digits.`)
}

/** Asks a source for the price of a token. @throws Unavailable without a price */
export async function askEvmSource(
  source: EvmPriceSource,
  token: { readonly address: Hex; readonly decimals: number },
  world: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  if (source.type === 'fixed') return source.price
  if (source.type === 'uniswap_v3') return readPoolPrice(source.pool, token, world.rpc)
  return askFeeds(source, world)
}

const FEED = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
])

async function askFeeds(
  source: { readonly coin: Feed; readonly token: Feed },
  world: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  const [coin, token] = await Promise.all([source.coin, source.token].map((feed) => askFeed(feed, world)))
  if (coin === undefined || token === undefined) throw new Error('two feeds were asked')
  return {
    numerator: coin.numerator * token.denominator,
    denominator: coin.denominator * token.numerator,
  }
}

/** A feed whose clock is ahead by more is wrong, in seconds. */
const AHEAD_SECONDS = 60

async function askFeed(
  { address, maxAgeSeconds }: Feed,
  { rpc, now }: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  const ask = (functionName: 'decimals' | 'latestRoundData') =>
    rpc<Hex>('eth_call', [{ to: address, data: encodeFunctionData({ abi: FEED, functionName }) }, 'latest'])
  try {
    const [decimals, round] = await Promise.all([ask('decimals'), ask('latestRoundData')])
    const places = decodeFunctionResult({ abi: FEED, functionName: 'decimals', data: decimals })
    const [, answer, , updatedAt] = decodeFunctionResult({
      abi: FEED,
      functionName: 'latestRoundData',
      data: round,
    })
    const age = Math.floor(now / 1000) - Number(updatedAt)
    if (age > maxAgeSeconds || age < -AHEAD_SECONDS)
      throw new Unavailable(
        `The price of the feed ${address} is ${age} s old; at most ${maxAgeSeconds} s are accepted.`,
      )
    if (answer <= 0n) throw new Unavailable(`The feed ${address} has no positive price.`)
    return { numerator: answer, denominator: 10n ** BigInt(places) }
  } catch (error) {
    if (error instanceof Unavailable) throw error
    throw new Unavailable(
      `The feed ${address} tells no price${error instanceof NodeError ? `: ${error.message}` : '.'}`,
    )
  }
}
