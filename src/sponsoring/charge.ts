import type { Charge } from '../chains/capabilities.ts'
import type { AllowedToken, SponsoringPolicies } from '../chains/sponsoring.ts'
import { inCoins } from '../lib/bigint.ts'
import { PERCENT_UNIT, type Price, percentUnits } from './price.ts'

/** The default of `slippage_percentage`. */
const DEFAULT_SLIPPAGE_PERCENT = 1

/** The policies that decide a charge. */
export type ChargePolicies = SponsoringPolicies & { readonly slippagePercentage?: number }

interface ChargeFacts {
  /** In the smallest unit of the native currency. */
  readonly fee: bigint
  /** The decimals of the native currency, and of the token. */
  readonly decimals: number
  readonly tokenDecimals: number
  readonly price: Price
  readonly token: AllowedToken
  readonly policies: ChargePolicies
}

/**
 * Converts a fee to the token, with the margin and the slippage. It is rounded up once, at the end, and never
 * 0: what the relayer pays is always paid for. Pure.
 */
export function chargeOf({ fee, decimals, tokenDecimals, price, token, policies }: ChargeFacts): Charge {
  const { feeMarginPercentage = 0, slippagePercentage = DEFAULT_SLIPPAGE_PERCENT } = policies
  const hundred = 100n * PERCENT_UNIT
  const margin = hundred + percentUnits(feeMarginPercentage)
  const slippage = hundred + percentUnits(token.swap_config?.slippage_percentage ?? slippagePercentage)
  const numerator = fee * price.numerator * 10n ** BigInt(tokenDecimals) * margin * slippage
  const denominator = price.denominator * 10n ** BigInt(decimals) * hundred * hundred
  const amount = divideUp(numerator, denominator)
  const least = amount > 0n ? amount : 1n
  // What a user authorizes beyond the fee would stay with the forwarder's contract, for the next call of
  // anyone.
  return { amount: least, most: least }
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}

/** The digits behind the point of a shown price. */
const PRICE_DIGITS = 12

/** Writes a price in decimal digits, rounded down after twelve. */
export function showPrice({ numerator, denominator }: Price): string {
  return inCoins((numerator * 10n ** BigInt(PRICE_DIGITS)) / denominator, PRICE_DIGITS)
}
