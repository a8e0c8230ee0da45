import { larger, smaller } from '../../../lib/bigint.ts'
import type { Speed } from '../../speed.ts'
import type { EvmRequest, Fees } from '../content.ts'
import { DEFAULT_SPEED, SPEEDS } from '../speed.ts'

/** Limits of price that endpoints showed lately, beside the market, in wei. */
export interface PriceBounds {
  /** The lowest price that a pool accepts. */
  readonly floor?: PriceFloor
  /** The highest fee of a whole transaction, gas times price (geth's `--rpc.txfeecap`). */
  readonly maximumFee?: bigint
}

/** The lowest prices, in wei per gas. */
export interface PriceFloor {
  readonly tip: bigint
  readonly ceiling: bigint
  /** A node named the number. Otherwise it is a guess, which the market bounds. */
  readonly stated: boolean
}

/** Prices of a network at one moment, in wei per gas. */
export interface Market extends PriceBounds {
  /** The suggestion of `eth_gasPrice`. */
  readonly gasPrice: bigint
  /** Base fee of the next block (EIP-1559); absent where blocks have none. */
  readonly baseFee?: bigint
  /** The gas of a whole block, which no transaction can exceed. */
  readonly blockGasLimit: bigint
  /** Tips that were enough lately, for each speed. */
  readonly tips: Readonly<Record<Speed, bigint>>
}

/**
 * A base fee grows by at most 1/8 each block, so twice the base fee still pays after five full blocks in a row. With less, transactions
 * wait as soon as a network gets busy; the chain does not charge the part that is not needed.
 */
const BASE_FEE_HEADROOM = 2n

/** Returns the highest price of one unit of gas under these fees. */
export function ceilingOf(fees: Fees): bigint {
  return fees.kind === 'legacy' ? fees.gasPrice : fees.maxFeePerGas
}

/** Returns the highest tip that the block producer receives for one unit of gas. */
export function tipOf(fees: Fees): bigint {
  return fees.kind === 'legacy' ? fees.gasPrice : fees.maxPriorityFeePerGas
}

/** Returns the prices that the request names; undefined when the service chooses them. */
export function explicitFees(request: EvmRequest): Fees | undefined {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  if (gasPrice !== undefined) return { kind: 'legacy', gasPrice }
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined) return undefined
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/** Returns the market's price for a speed, and no less than pools demanded lately. */
export function marketFees(market: Market, level: Speed = DEFAULT_SPEED, eip1559: boolean): Fees {
  const fees = quotedFees(market, level, eip1559)
  return market.floor === undefined ? fees : liftedTo(fees, market.floor)
}

/**
 * A minimum without a number is guessed from the refused price. A guess goes no further than this many times the market: a node that calls
 * that too cheap means something else.
 */
const MOST_GUESSED = 4n

function liftedTo(fees: Fees, floor: PriceFloor): Fees {
  const most = ceilingOf(fees) * MOST_GUESSED
  const bounded = (price: bigint) => (floor.stated ? price : smaller(price, most))
  if (fees.kind === 'legacy') {
    const least = larger(bounded(floor.tip), bounded(floor.ceiling))
    return { kind: 'legacy', gasPrice: larger(fees.gasPrice, least) }
  }
  const maxPriorityFeePerGas = larger(fees.maxPriorityFeePerGas, bounded(floor.tip))
  const raised = fees.maxFeePerGas + maxPriorityFeePerGas - fees.maxPriorityFeePerGas
  return { kind: 'eip1559', maxFeePerGas: larger(raised, bounded(floor.ceiling)), maxPriorityFeePerGas }
}

function quotedFees(market: Market, level: Speed, eip1559: boolean): Fees {
  const multiplier = SPEEDS[level].priceMultiplier
  if (!eip1559 || market.baseFee === undefined) {
    return { kind: 'legacy', gasPrice: times(market.gasPrice, multiplier) }
  }
  const maxPriorityFeePerGas = market.tips[level]
  const maxFeePerGas = times(market.baseFee * BASE_FEE_HEADROOM, multiplier) + maxPriorityFeePerGas
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/** Returns the fees with nothing above the cap. */
export function capped(fees: Fees, cap: bigint | undefined): Fees {
  if (cap === undefined || ceilingOf(fees) <= cap) return fees
  if (fees.kind === 'legacy') return { kind: 'legacy', gasPrice: cap }
  return {
    kind: 'eip1559',
    maxFeePerGas: cap,
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas, cap),
  }
}

/** Describes fees for errors and logs. */
export function describeFees(fees: Fees): string {
  return fees.kind === 'legacy'
    ? `gas_price ${fees.gasPrice}`
    : `max_fee_per_gas ${fees.maxFeePerGas} and max_priority_fee_per_gas ${fees.maxPriorityFeePerGas}`
}

/** Multipliers have at most two decimals, so the product is exact. */
function times(amount: bigint, multiplier: number): bigint {
  return (amount * BigInt(Math.round(multiplier * 100))) / 100n
}
