/** A kind of money: the name and the decimals of its unit for people. */
export interface Currency {
  readonly symbol: string
  readonly decimals: number
}

type NetworkType = 'evm' | 'stellar' | 'solana'

const CURRENCIES: Readonly<Record<NetworkType, Currency>> = {
  evm: { symbol: 'ETH', decimals: 18 },
  stellar: { symbol: 'XLM', decimals: 7 },
  solana: { symbol: 'SOL', decimals: 9 },
}

/** Returns the native currency of a network. `symbol` is that of the network, when it has its own. */
export function currencyOf(type: NetworkType, symbol?: string): Currency {
  const currency = CURRENCIES[type]
  return symbol === undefined ? currency : { ...currency, symbol }
}

/** Writes an amount of the smallest unit in the unit for people, with every digit. */
export function formatExact(amount: bigint, decimals: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return `${amount < 0n ? '-' : ''}${grouped}${fraction && `.${fraction}`}`
}

/** The digits after the point that a table shows. */
const SHOWN_DECIMALS = 4

/** Writes an amount for a table: cut, never rounded up, with a `…` where digits are left out. */
export function formatShort(amount: bigint, decimals: number): string {
  const exact = formatExact(amount, decimals)
  const [whole = '', fraction = ''] = exact.split('.')
  if (fraction.length <= SHOWN_DECIMALS) return exact
  // A price or a fee can be far below one: its first digits are what it is about.
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  return `${whole}.${fraction.slice(0, zeros + SHOWN_DECIMALS)}…`
}

/** The decimals of a gwei. */
const GWEI_DECIMALS = 9

/** Writes a price of gas in gwei. */
export const formatGwei = (wei: bigint): string => `${formatShort(wei, GWEI_DECIMALS)} gwei`
