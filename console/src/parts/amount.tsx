import { type Currency, formatExact, formatShort } from '../format/amounts.ts'

interface AmountProps {
  /** In the smallest unit, as decimal digits; undefined if it is not known. */
  readonly of: string | bigint | undefined
  readonly currency: Currency
  /** Shows every digit. */
  readonly isExact?: boolean
}

/** Shows an amount in the unit for people, with all its digits for a pointer. */
export function Amount({ of, currency: { decimals, symbol }, isExact = false }: AmountProps) {
  if (of === undefined) return <span class="muted">–</span>
  const amount = BigInt(of)
  return (
    <span class="amount" title={`${formatExact(amount, decimals)} ${symbol}`}>
      {isExact ? formatExact(amount, decimals) : formatShort(amount, decimals)}{' '}
      <span class="muted">{symbol}</span>
    </span>
  )
}
