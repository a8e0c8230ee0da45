import type { PriceComparison } from '../chains/answer.ts'
import { smaller } from '../lib/bigint.ts'
import { gasPriceCapOf } from '../relayers/policies/policy.ts'
import type { Finding } from './diagnosis.ts'
import { type DiagnosisFacts, isUnmined } from './facts.ts'

/** Finds that the next block cannot include it at its price. */
export function belowBaseFee({ transaction, price }: DiagnosisFacts): Finding | undefined {
  if (!isUnmined(transaction.status) || price?.baseFee === undefined || price.bid >= price.baseFee)
    return undefined
  return {
    code: 'fee_below_base_fee',
    message: `It offers ${price.bid} wei per gas, less than the ${price.baseFee} that the next block requires.`,
  }
}

/** Finds that a policy stops the next raise. */
export function feeAtCap({ transaction, relayer, price, unit }: DiagnosisFacts): Finding | undefined {
  if (!isUnmined(transaction.status) || price === undefined) return undefined
  if (unit !== 'wei') return boundByCap(price, unit)
  const { bid, market } = price
  const least = (bid * 11n) / 10n
  const caps = [
    { cap: gasPriceCapOf(relayer), words: 'gas_price_cap is' },
    { cap: price.feeCap, words: 'tx_fee_cap allows' },
  ]
  const reached = caps.find(({ cap }) => cap !== undefined && least > cap)
  if (market <= bid || reached === undefined) return undefined
  const message = `The market is at ${market} wei per gas; a raise needs at least ${least}, and ${reached.words} ${reached.cap}.`
  return { code: 'fee_at_cap', message }
}

/** The caps of one transaction's fee where signed bytes expire, and are priced again. */
const FEE_CAPS = { stroops: 'max_fee', lamports: 'max_allowed_fee_lamports' } as const

/** Finds that the cap keeps the price below the market, also when it is signed again. */
function boundByCap(
  { bid, market, feeCap }: PriceComparison,
  unit: keyof typeof FEE_CAPS,
): Finding | undefined {
  if (feeCap === undefined || market <= feeCap || bid < feeCap) return undefined
  return {
    code: 'fee_at_cap',
    message: `The market is at ${market} ${PRICES[unit]}, and ${FEE_CAPS[unit]} allows ${feeCap}.`,
  }
}

/**
 * Finds that a raise would exceed the limit for automatic raises, or that a refused price cannot grow
 * further.
 */
export function feeAtLimit({ transaction, price, raise, raiseAt, now }: DiagnosisFacts): Finding | undefined {
  if (price?.atLimit === undefined || price.limit === undefined) return undefined
  const isStopped = raise?.kind === 'wait' && raise.code === 'refused' && isDue(raiseAt, now)
  if (!isStopped && transaction.status !== 'pending') return undefined
  return {
    code: 'fee_at_limit',
    message: `It offered ${price.bid} wei per gas; the service raises it up to ${price.limit}, a multiple of the current market of ${price.market} (fee_limit_multiplier). It waits until the market rises or a block includes it; replace it to pay more.`,
  }
}

/** Finds that neither the account nor the budgets pay for a raise. */
export function raiseUnpaid({ raise, raiseAt, now }: DiagnosisFacts): Finding | undefined {
  if (raise?.kind !== 'wait' || raise.detail === undefined || !isDue(raiseAt, now)) return undefined
  const message = `Blocks leave it out, but ${raise.detail}`
  if (raise.code === 'funds') return { code: 'waiting_for_funds', message }
  return raise.code === 'budget' ? { code: 'fee_over_budget', message } : undefined
}

function isDue(raiseAt: number | undefined, now: number): boolean {
  return raiseAt !== undefined && raiseAt <= now
}

/** The unit that a price is per: gas, operation, or compute unit. */
const PRICES = {
  wei: 'wei per gas',
  stroops: 'stroops per operation',
  lamports: 'micro-lamports per compute unit',
} as const

/** Finds that others offer more. */
export function belowMarket({ transaction, price, unit }: DiagnosisFacts): Finding | undefined {
  if (!isUnmined(transaction.status) || price === undefined || price.bid >= price.market) return undefined
  if (price.baseFee !== undefined && price.bid < price.baseFee) return undefined
  const offer = unit === 'wei' ? price.market : smaller(price.market, price.feeCap ?? price.market)
  if (price.bid >= offer) return undefined
  return {
    code: 'fee_below_market',
    message: `It offers ${price.bid} ${PRICES[unit]}; the service would offer ${offer} now.`,
  }
}
