import { larger, smaller } from '../../../lib/bigint.ts'
import type { Speed } from '../../speed.ts'
import type { EvmRequest, Fees } from '../content.ts'
import { DEFAULT_SPEED, SPEEDS } from '../speed.ts'
import type { EvmAttempt } from '../types.ts'

/** What endpoints have lately let pass, beside the market, in wei. */
export interface PriceBounds {
  /** The least that a pool takes. */
  readonly floor?: PriceFloor
  /** The most that a whole transaction may pay (geth's `--rpc.txfeecap`): gas times price. */
  readonly maximumFee?: bigint
}

/** In wei per gas. */
export interface PriceFloor {
  readonly tip: bigint
  readonly ceiling: bigint
  /** Whether a node named the number. Otherwise it is a guess, and the market bounds it. */
  readonly stated: boolean
}

/** Prices of a network at one moment, in wei per gas. */
export interface Market extends PriceBounds {
  /** What `eth_gasPrice` suggests. */
  readonly gasPrice: bigint
  /** Base fee of the next block (EIP-1559); absent where blocks have none. */
  readonly baseFee?: bigint
  /** The most gas that a block holds, and so the most that a transaction can ask for. */
  readonly blockGasLimit: bigint
  /** Whether calldata has a floor price (EIP-7623): from Prague on, whose headers have a field of their own (EIP-7685). */
  readonly calldataFloor?: boolean
  /** Tips that were enough lately, by speed. */
  readonly tips: Readonly<Record<Speed, bigint>>
}

/**
 * A base fee grows by at most 1/8 a block, so twice the base fee still pays after five full blocks in a row. Less
 * makes transactions wait as soon as a network gets busy; what is not needed is not charged.
 */
const BASE_FEE_HEADROOM = 2n

/** Nodes take a replacement only when each price is at least this much of the old one (geth's `PriceBump` of 10 %). */
const BUMP_PERCENT = 110n

/** The least price that a node takes in place of `price`: 110 %, rounded up, and at least one wei more. */
export function bumped(price: bigint): bigint {
  const raised = (price * BUMP_PERCENT + 99n) / 100n
  return raised > price ? raised : price + 1n
}

/** The most one unit of gas can cost under these fees. */
export function ceilingOf(fees: Fees): bigint {
  return fees.kind === 'legacy' ? fees.gasPrice : fees.maxFeePerGas
}

/** What the block's maker is offered at most for one unit of gas. */
export function tipOf(fees: Fees): bigint {
  return fees.kind === 'legacy' ? fees.gasPrice : fees.maxPriorityFeePerGas
}

/** The prices that the request names itself, or nothing when it leaves them to us. */
export function explicitFees(request: EvmRequest): Fees | undefined {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  if (gasPrice !== undefined) return { kind: 'legacy', gasPrice }
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined) return undefined
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/** The market's price for a speed, and no less than pools have asked for lately. */
export function marketFees(market: Market, level: Speed = DEFAULT_SPEED, eip1559: boolean): Fees {
  const fees = quotedFees(market, level, eip1559)
  return market.floor === undefined ? fees : liftedTo(fees, market.floor)
}

/**
 * A minimum without a number is guessed from what was refused. A guess goes no further than so many times the market: whoever calls
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

/** The same fees with nothing above the cap. */
export function capped(fees: Fees, cap: bigint | undefined): Fees {
  if (cap === undefined || ceilingOf(fees) <= cap) return fees
  if (fees.kind === 'legacy') return { kind: 'legacy', gasPrice: cap }
  return {
    kind: 'eip1559',
    maxFeePerGas: cap,
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas, cap),
  }
}

/** What a replacement must pay at least, in both fields. */
export interface Floor {
  readonly ceiling: bigint
  readonly tip: bigint
}

/** The floor over every attempt that may be in a node's pool with the present nonce; nothing when no attempt may be. */
export function replacementFloor(attempts: readonly EvmAttempt[]): Floor | undefined {
  const inPool = attempts
    .filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
    .map((attempt) => attempt.draft.fees)
  if (inPool.length === 0) return undefined
  const highest = (price: (fees: Fees) => bigint) => inPool.map(price).reduce(larger)
  return { ceiling: bumped(highest(ceilingOf)), tip: bumped(highest(tipOf)) }
}

/** Whether a node would take these fees in place of what made the floor. */
export function reaches(fees: Fees, floor: Floor): boolean {
  return ceilingOf(fees) >= floor.ceiling && tipOf(fees) >= floor.tip
}

/** The higher of the fees and the floor, field by field. */
export function raisedTo(fees: Fees, floor: Floor): Fees {
  if (fees.kind === 'legacy') {
    return { kind: 'legacy', gasPrice: larger(fees.gasPrice, larger(floor.ceiling, floor.tip)) }
  }
  const maxPriorityFeePerGas = larger(fees.maxPriorityFeePerGas, floor.tip)
  const maxFeePerGas = larger(larger(fees.maxFeePerGas, floor.ceiling), maxPriorityFeePerGas)
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/** Fees in words, for errors and logs. */
export function describeFees(fees: Fees): string {
  return fees.kind === 'legacy'
    ? `gas_price ${fees.gasPrice}`
    : `max_fee_per_gas ${fees.maxFeePerGas} and max_priority_fee_per_gas ${fees.maxPriorityFeePerGas}`
}

/** A floor in the words of the fee kind that the request uses. */
export function describeFloor(floor: Floor, kind: Fees['kind']): string {
  return describeFees(
    kind === 'legacy'
      ? { kind, gasPrice: larger(floor.ceiling, floor.tip) }
      : { kind, maxFeePerGas: floor.ceiling, maxPriorityFeePerGas: floor.tip },
  )
}

/** Multipliers have at most two decimals, so the product is exact. */
function times(amount: bigint, multiplier: number): bigint {
  return (amount * BigInt(Math.round(multiplier * 100))) / 100n
}
