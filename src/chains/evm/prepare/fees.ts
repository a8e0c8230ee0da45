import { parseGwei } from 'viem/utils'
import { larger, smaller } from '../../../lib/bigint.ts'
import type { Speed } from '../../speed.ts'
import { DEFAULT_FEE_LIMIT_MULTIPLIER, type EvmRequest, type Fees } from '../content.ts'
import type { EvmAttempt } from '../types.ts'

/** Limits of price that endpoints showed lately, beside the market, in wei. */
export interface PriceBounds {
  /** The lowest price that a pool accepts. */
  readonly floor?: PriceFloor
  /**
   * The lowest price that a pool named as its minimum, regardless of blocks; callers' prices are compared
   * with it.
   */
  readonly poolMinimum?: PoolMinimum
  /** The highest fee of a whole transaction, gas times price (geth's `--rpc.txfeecap`). */
  readonly maximumFee?: bigint
}

/** The lowest prices that a pool takes, in wei per gas; 0 for one that it did not name. */
export interface PoolMinimum {
  readonly tip: bigint
  readonly price: bigint
}

/** The lowest prices, in wei per gas. */
export interface PriceFloor {
  readonly tip: bigint
  readonly ceiling: bigint
  /** A node named the number. Otherwise it is a guess. The market bounds both. */
  readonly stated: boolean
}

/** The newest block, as far as it affects prices. */
export interface MarketBlock {
  readonly number: bigint
  /** In wei per gas; absent if blocks have none. */
  readonly baseFee?: bigint | undefined
  readonly gasLimit: bigint
  /** Absent if the node did not return it. */
  readonly gasUsed?: bigint | undefined
  /** The time that the block states; absent if the node did not return it. */
  readonly time?: Date | undefined
}

/**
 * No chain makes this many blocks while a transaction waits for its next step. A number that is so far ahead
 * came from an endpoint that named a block of the future, or from a chain that was rolled back; either way it
 * would keep a fee from being raised for ever.
 */
const IMPOSSIBLE_LEAD = 1_000n

/** Returns true if a block is newer than the one that was noted earlier. */
export function isNewer(block: bigint, noted: bigint): boolean {
  return block > noted || noted - block > IMPOSSIBLE_LEAD
}

/** Prices of a network at one moment, in wei per gas. */
export interface Prices {
  /** The suggestion of `eth_gasPrice`. */
  readonly gasPrice: bigint
  /** Base fee of the next block (EIP-1559); absent if blocks have none. */
  readonly baseFee?: bigint
  /** Tips that were enough lately, for each speed. */
  readonly tips: Readonly<Record<Speed, bigint>>
}

/** The prices on which the endpoints agree, and the state of the chain that bounds a transaction. */
export interface Market extends Prices, PriceBounds {
  /**
   * The same prices by the upper median: the dearer ones of two endpoints that contradict each other. They
   * confirm what a pool demands, and bound raises; no first offer uses them. Absent if one endpoint answered.
   */
  readonly upper?: Prices
  /** The gas of a whole block, which no transaction can exceed. */
  readonly blockGasLimit: bigint
  /** The block of which the prices are; absent if the node did not return its number. */
  readonly block?: MarketBlock | undefined
  /** The lowest price of the content to send, on networks that return one (Linea). */
  readonly quote?: PriceFloor
}

/** The pricing settings of a relayer. */
export interface Pricing {
  readonly eip1559: boolean
  /** As in `EvmPolicies`. */
  readonly feeLimitMultiplier?: number | undefined
}

/**
 * A base fee grows by at most 1/8 each block, so twice the base fee still pays after five full blocks in a
 * row. With less, transactions wait as soon as a network gets busy; the chain does not charge the part that
 * is not needed.
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

/** Returns the prices that the request names; undefined if the service chooses them. */
export function explicitFees(request: EvmRequest): Fees | undefined {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  if (gasPrice !== undefined) return { kind: 'legacy', gasPrice }
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined) return undefined
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * Returns the market's price for a speed, and no less than pools demanded lately, as far as the market makes
 * that believable.
 */
export function marketFees(market: Market, level: Speed = DEFAULT_SPEED, pricing: Pricing): Fees {
  const fees = contentFees(market, level, pricing)
  const { floor } = market
  if (floor === undefined) return fees
  const most = floor.stated ? mostStated(pricing) : multiplierOf(pricing)
  return liftedTo(
    fees,
    floor.stated ? floor : atLeastSuggested(floor, market),
    demandLimit(market, fees, { multiplier: most, isStated: floor.stated }),
  )
}

/**
 * Pools that refuse a price and name none take what `eth_gasPrice` suggests, where that is more than a guess.
 */
function atLeastSuggested(floor: PriceFloor, { gasPrice, baseFee = 0n }: Market): PriceFloor {
  const tip = gasPrice - smaller(baseFee, gasPrice)
  return { ...floor, tip: larger(floor.tip, tip), ceiling: larger(floor.ceiling, gasPrice) }
}

/**
 * Returns the market's price for a raise of what blocks have left out. Of two endpoints that contradict each
 * other the dearer one counts then, within the limit that the cheaper one sets.
 */
export function raiseFees(market: Market, level: Speed = DEFAULT_SPEED, pricing: Pricing): Fees {
  const { upper } = market
  const fees = marketFees(market, level, pricing)
  if (upper === undefined) return fees
  const { ceiling, tip } = feeLimit(market, level, pricing)
  const dear = capped(marketFees({ ...market, ...upper }, level, pricing), ceiling)
  return dear.kind === 'legacy'
    ? dear
    : { ...dear, maxPriorityFeePerGas: smaller(dear.maxPriorityFeePerGas, tip) }
}

/**
 * Explains that a caller's fees are below what the next block or the nodes' pools require, with both numbers;
 * undefined if they are not. A pool minimum too far above the market is not believed.
 */
export function belowLeast(fees: Fees, market: Market, pricing: Pricing): string | undefined {
  const { baseFee = 0n, poolMinimum: { tip, price } = { tip: 0n, price: 0n } } = market
  const offered = `it offers ${ceilingOf(fees)} wei per gas`
  if (ceilingOf(fees) < baseFee) return `${offered}, and the next block requires at least ${baseFee}`
  const most = demandLimit(market, contentFees(market, DEFAULT_SPEED, pricing), {
    multiplier: mostStated(pricing),
    isStated: true,
  })
  if (ceilingOf(fees) < price && price <= most.ceiling)
    return `${offered}, and the nodes require at least ${price}`
  if (tipOf(fees) < tip && tip <= most.tip)
    return `it offers a tip of ${tipOf(fees)} wei per gas, and the nodes require at least ${tip}`
  return undefined
}

/** Returns the market's price for the content that is to be sent. */
function contentFees(market: Market, level: Speed, pricing: Pricing): Fees {
  const fees = quotedFees(market, level, pricing.eip1559)
  const { quote } = market
  return quote === undefined
    ? fees
    : liftedTo(fees, quote, demandLimit(market, fees, { multiplier: mostStated(pricing), isStated: true }))
}

/**
 * A minimum that a node names is followed up to this many times the market: a pool that takes nothing below
 * the former default of geth, 1 gwei, on a network whose blocks cost 0.05. A higher number needs
 * `eth_gasPrice` to confirm it.
 */
const MOST_STATED = 32

/**
 * `eth_gasPrice` confirms a number that a node names up to this many times its own: a pool's minimum may be
 * above what the node suggests for the next block. A guess is confirmed up to the number itself.
 */
const CONFIRMED = 2n

/**
 * Returns the most that a demand of the nodes may raise the price to: a multiple of the market, or what
 * `eth_gasPrice` confirms. Blocks that were cheap lately, or nearly empty, say little about what pools take.
 */
function demandLimit(
  market: Market,
  fees: Fees,
  { multiplier, isStated }: { readonly multiplier: number; readonly isStated: boolean },
): FeeLimit {
  const { ceiling, tip } = limitAt(market, fees, multiplier)
  const { gasPrice, baseFee = 0n } = market.upper ?? market
  const confirmed = isStated ? gasPrice * CONFIRMED : gasPrice
  if (fees.kind === 'legacy') return { ceiling: larger(ceiling, confirmed), tip: larger(tip, confirmed) }
  return { ceiling: larger(ceiling, confirmed), tip: larger(tip, confirmed - smaller(baseFee, confirmed)) }
}

function mostStated(pricing: Pricing): number {
  return Math.max(MOST_STATED, multiplierOf(pricing))
}

function multiplierOf({
  feeLimitMultiplier = DEFAULT_FEE_LIMIT_MULTIPLIER,
}: Pick<Pricing, 'feeLimitMultiplier'>): number {
  return feeLimitMultiplier
}

/** The highest prices that the service chooses, in wei per gas. */
interface FeeLimit {
  /** The most that any block may charge. */
  readonly ceiling: bigint
  /** A block of today's base fee charges this tip at most. */
  readonly tip: bigint
}

/**
 * Returns the limit of raises: what a new transaction of this speed would offer and be charged now, times the
 * multiplier of the relayer. A minimum of the pools that a new transaction follows is within it.
 */
export function feeLimit(market: Market, level: Speed = DEFAULT_SPEED, pricing: Pricing): FeeLimit {
  const { ceiling, tip } = limitAt(market, contentFees(market, level, pricing), multiplierOf(pricing))
  const asked = marketFees(market, level, pricing)
  return { ceiling: larger(ceiling, ceilingOf(asked)), tip: larger(tip, tipOf(asked)) }
}

/** Returns true if the fees keep both prices of the limit. */
export function isWithin(fees: Fees, { ceiling, tip }: FeeLimit): boolean {
  return ceilingOf(fees) <= ceiling && tipOf(fees) <= tip
}

/**
 * The price that replaces a market whose every source reports 0, only in the limits, in wei per gas. A
 * multiple of 0 would be 0, so that a node which refuses 0 could never be satisfied. A transfer at five times
 * this price costs 0.0001 of the currency.
 */
const UNPRICED = parseGwei('1')

/**
 * Returns this many times what these fees offer, and what a block with the current base fee charges for them.
 */
function limitAt({ baseFee = 0n }: Market, fees: Fees, multiplier: number): FeeLimit {
  const factor = BigInt(multiplier)
  if (fees.kind === 'legacy') {
    const most = (fees.gasPrice === 0n ? UNPRICED : fees.gasPrice) * factor
    return { ceiling: most, tip: most }
  }
  const charged = baseFee + fees.maxPriorityFeePerGas
  const priced = charged === 0n ? UNPRICED : charged
  return {
    ceiling: larger(fees.maxFeePerGas, priced) * factor,
    tip: priced * factor - baseFee,
  }
}

function liftedTo(fees: Fees, floor: PriceFloor, limit: FeeLimit): Fees {
  const tip = smaller(floor.tip, limit.tip)
  const ceiling = smaller(floor.ceiling, limit.ceiling)
  if (fees.kind === 'legacy') return { kind: 'legacy', gasPrice: larger(fees.gasPrice, larger(tip, ceiling)) }
  const maxPriorityFeePerGas = larger(fees.maxPriorityFeePerGas, tip)
  const raised = fees.maxFeePerGas + maxPriorityFeePerGas - fees.maxPriorityFeePerGas
  return { kind: 'eip1559', maxFeePerGas: larger(raised, ceiling), maxPriorityFeePerGas }
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

/**
 * Nodes accept a replacement only when each price is at least this percentage of the old one (geth's
 * `PriceBump` of 10 %).
 */
const BUMP_PERCENT = 110n

/**
 * Returns the lowest price that a node accepts in place of `price`: 110 %, rounded up, and at least one wei
 * more.
 */
export function bumped(price: bigint): bigint {
  const raised = (price * BUMP_PERCENT + 99n) / 100n
  return raised > price ? raised : price + 1n
}

/** The lowest prices of a replacement, in both fields. */
export interface Floor {
  readonly ceiling: bigint
  readonly tip: bigint
}

/**
 * Returns the floor over every attempt that may be in a pool with the current nonce; undefined if there is
 * none.
 */
export function replacementFloor(attempts: readonly EvmAttempt[]): Floor | undefined {
  const inPool = attempts
    .filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
    .map((attempt) => attempt.draft.fees)
  if (inPool.length === 0) return undefined
  const highest = (price: (fees: Fees) => bigint) => inPool.map(price).reduce(larger)
  return { ceiling: bumped(highest(ceilingOf)), tip: bumped(highest(tipOf)) }
}

/** Returns true if a node accepts these fees in place of the attempts that set the floor. */
export function reaches(fees: Fees, floor: Floor): boolean {
  return ceilingOf(fees) >= floor.ceiling && tipOf(fees) >= floor.tip
}

/** Returns the higher of the fees and the floor, field by field. */
export function raisedTo(fees: Fees, floor: Floor): Fees {
  if (fees.kind === 'legacy') {
    return { kind: 'legacy', gasPrice: larger(fees.gasPrice, larger(floor.ceiling, floor.tip)) }
  }
  const maxPriorityFeePerGas = larger(fees.maxPriorityFeePerGas, floor.tip)
  const maxFeePerGas = larger(larger(fees.maxFeePerGas, floor.ceiling), maxPriorityFeePerGas)
  return { kind: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
}

/** Describes a floor in the fields of the fee kind that the request uses. */
export function describeFloor(floor: Floor, kind: Fees['kind']): string {
  return describeFees(
    kind === 'legacy'
      ? { kind, gasPrice: larger(floor.ceiling, floor.tip) }
      : { kind, maxFeePerGas: floor.ceiling, maxPriorityFeePerGas: floor.tip },
  )
}

/** The meaning of a speed level: the price above the market, and the wait before the fee is raised. */
interface SpeedMeaning {
  /** The market price is multiplied by this. */
  readonly priceMultiplier: number
  /** Percentile of the tips paid in recent blocks (`eth_feeHistory`). */
  readonly rewardPercentile: number
  /** Seconds without inclusion until the service raises the fee automatically. */
  readonly raiseAfterSeconds: number
}

/** Existing clients know these levels and waits; a change is a change of the contract. */
export const SPEEDS: Readonly<Record<Speed, SpeedMeaning>> = {
  safeLow: { priceMultiplier: 1, rewardPercentile: 30, raiseAfterSeconds: 600 },
  average: { priceMultiplier: 1.25, rewardPercentile: 50, raiseAfterSeconds: 300 },
  fast: { priceMultiplier: 1.5, rewardPercentile: 85, raiseAfterSeconds: 180 },
  fastest: { priceMultiplier: 2, rewardPercentile: 99, raiseAfterSeconds: 120 },
}

/** The level of a request that names neither a speed nor a price. */
const DEFAULT_SPEED: Speed = 'fast'
