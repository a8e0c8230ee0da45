import type { Finding } from './diagnosis.ts'
import type { DiagnosisFacts } from './facts.ts'
import { isUnmined } from './is-unmined.ts'

/** Finds that the next block cannot include it at its price. */
export function belowBaseFee({ transaction, price }: DiagnosisFacts): Finding | undefined {
  if (!isUnmined(transaction.status) || price?.baseFee === undefined || price.bid >= price.baseFee)
    return undefined
  return {
    code: 'fee_below_base_fee',
    message: `It offers ${price.bid} wei per gas, less than the ${price.baseFee} that the next block asks for.`,
  }
}

/** Finds that the policy stops the next raise. */
export function feeAtCap({ transaction, relayer, price }: DiagnosisFacts): Finding | undefined {
  const cap = relayer.networkType === 'evm' ? relayer.policies.gasPriceCap : undefined
  if (!isUnmined(transaction.status) || price === undefined || cap === undefined) return undefined
  if (price.market <= price.bid || (price.bid * 11n) / 10n <= cap) return undefined
  return {
    code: 'fee_at_cap',
    message: `The market is at ${price.market} wei per gas; a raise needs at least ${(price.bid * 11n) / 10n}, and gas_price_cap is ${cap}.`,
  }
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
  return {
    code: 'fee_below_market',
    message: `It offers ${price.bid} ${PRICES[unit]}; the service would offer ${price.market} now.`,
  }
}
