import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { NodeError, type Rpc, Unavailable } from './host.ts'
import type { Price } from './prices.ts'

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

const POOL = parseAbi([
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function observe(uint32[] secondsAgos) view returns (int56[] tickCumulatives, uint160[] secondsPerLiquidityCumulativeX128s)',
])

/** The smallest part of the coin: all EVM chains count it in 18 decimals. */
const COIN_DECIMALS = 18

/**
 * Reads the price of a token from a pool of Uniswap v3: the geometric mean over some time, so that whoever
 * moves the pool must keep it there for as long. @throws Unavailable without a price
 */
export async function readPoolPrice(
  { address, coin, seconds, minLiquidity }: Pool,
  token: { readonly address: Hex; readonly decimals: number },
  rpc: Rpc,
): Promise<Price> {
  const ask = async (functionName: 'token0' | 'token1' | 'observe') => {
    const data =
      functionName === 'observe'
        ? encodeFunctionData({ abi: POOL, functionName, args: [[seconds, 0]] })
        : encodeFunctionData({ abi: POOL, functionName })
    return rpc<Hex>('eth_call', [{ to: address, data }, 'latest'])
  }
  try {
    const [first, second, observed] = await Promise.all([ask('token0'), ask('token1'), ask('observe')])
    const pair = [
      decodeFunctionResult({ abi: POOL, functionName: 'token0', data: first }).toLowerCase(),
      decodeFunctionResult({ abi: POOL, functionName: 'token1', data: second }).toLowerCase(),
    ]
    const isCoinFirst = pair[0] === coin && pair[1] === token.address
    if (!isCoinFirst && !(pair[0] === token.address && pair[1] === coin))
      throw new Unavailable(
        `The pool ${address} is of ${pair.join(' and ')}, and not of ${token.address} and ${coin}.`,
      )
    const [ticks, liquidities] = decodeFunctionResult({ abi: POOL, functionName: 'observe', data: observed })
    if (meanLiquidity(liquidities, seconds) < minLiquidity)
      throw new Unavailable(`The pool ${address} had less liquidity than ${minLiquidity}.`)
    return priceAt(meanTick(ticks, seconds), { isCoinFirst, decimals: token.decimals })
  } catch (error) {
    if (error instanceof Unavailable) throw error
    throw new Unavailable(
      `The pool ${address} tells no price of the last ${seconds} s${error instanceof NodeError ? `: ${error.message}` : '.'}`,
    )
  }
}

function meanTick([before = 0n, now = 0n]: readonly bigint[], seconds: number): bigint {
  return (now - before) / BigInt(seconds)
}

/** The harmonic mean. The sums of seconds per liquidity have 128 binary places, and begin again at 2^160. */
function meanLiquidity([before = 0n, now = 0n]: readonly bigint[], seconds: number): bigint {
  const sum = BigInt.asUintN(160, now - before)
  return sum === 0n ? 0n : (BigInt(seconds) << 128n) / sum
}

/**
 * Returns tokens for one coin, of a tick: 1.0001 to its power is the amount of the second token for one of the
 * first, both in their smallest parts. Pure.
 */
export function priceAt(
  tick: bigint,
  { isCoinFirst, decimals }: { readonly isCoinFirst: boolean; readonly decimals: number },
): Price {
  const power = powerOf(tick < 0n ? -tick : tick)
  const [above, below] = isCoinFirst === tick >= 0n ? [power, ONE] : [ONE, power]
  return {
    numerator: above * 10n ** BigInt(COIN_DECIMALS),
    denominator: below * 10n ** BigInt(decimals),
  }
}

/** Fractions have 192 binary places: after all squarings, more than 100 of them are right. */
const PLACES = 192n
const ONE = 1n << PLACES
const TICK = (10_001n * ONE) / 10_000n

/** Returns 1.0001 to a power, by squaring. */
function powerOf(exponent: bigint): bigint {
  let [result, base] = [ONE, TICK]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * base) >> PLACES
    base = (base * base) >> PLACES
  }
  return result
}
