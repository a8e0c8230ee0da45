import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { NodeError, type Rpc, Unavailable } from '../../shared/host.ts'
import type { Feed, FeeToken, Price, PriceSource } from './tokens.ts'
import { readPoolPrice } from './uniswap.ts'

const FEED = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
])

/**
 * Reads the price of a token: of sources that agree, the one at which the token is cheaper, so that the
 * relayer does not pay for the difference. @throws Unavailable without a price
 */
export async function readTokenPrice(
  { address, decimals, sources, maxDifferencePercent }: FeeToken,
  { rpc, now }: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  const token = { address, decimals }
  const prices = await Promise.all(sources.map((source) => readSource(source, token, { rpc, now })))
  const sorted = prices.toSorted((one, other) => (isLess(one, other) ? -1 : 1))
  const [low, high] = [sorted.at(0), sorted.at(-1)]
  if (low === undefined || high === undefined) throw new Error('a token has no source of its price')
  const most = {
    numerator: low.numerator * BigInt(100 + maxDifferencePercent),
    denominator: low.denominator * 100n,
  }
  if (isLess(most, high))
    throw new Unavailable(
      `The sources of the price of ${address} differ by more than ${maxDifferencePercent} percent.`,
    )
  return high
}

function isLess(one: Price, other: Price): boolean {
  return one.numerator * other.denominator < other.numerator * one.denominator
}

async function readSource(
  source: PriceSource,
  token: Pick<FeeToken, 'address' | 'decimals'>,
  world: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  if (source.type === 'fixed') return source.price
  if (source.type === 'uniswap_v3') return readPoolPrice(source.pool, token, world.rpc)
  return readFeeds(source, world)
}

async function readFeeds(
  source: { readonly coin: Feed; readonly token: Feed },
  world: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  const [coin, token] = await Promise.all([source.coin, source.token].map((feed) => readFeed(feed, world)))
  if (coin === undefined || token === undefined) throw new Error('two feeds were asked')
  return {
    numerator: coin.numerator * token.denominator,
    denominator: coin.denominator * token.numerator,
  }
}

/** A feed whose clock is ahead by more is wrong, in seconds. */
const AHEAD_SECONDS = 60

async function readFeed(
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
