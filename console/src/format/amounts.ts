/** A kind of money: the name and the decimals of its unit for people. */
export interface Currency {
  readonly symbol: string
  readonly decimals: number
}

type NetworkType = 'evm' | 'stellar' | 'solana'

const CURRENCIES: Readonly<Record<NetworkType, Currency>> = {
  evm: { symbol: 'native', decimals: 18 },
  stellar: { symbol: 'XLM', decimals: 7 },
  solana: { symbol: 'SOL', decimals: 9 },
}

/**
 * Returns the native currency of a network. `symbol` is that of the network, when it has its own: each EVM network has, and without it no one knows
 * what its currency is called.
 */
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

/** Writes the same as `parseAmount` reads: without commas. */
export function formatPlain(amount: bigint, decimals: number): string {
  return formatExact(amount, decimals).replaceAll(',', '')
}

/** The digits after the point that a table shows; of an amount far below one, after its zeros. */
const SHOWN_DECIMALS = 4

/** Writes an amount for a table: cut, never rounded up, with a `…` only where digits are left out. */
export function formatShort(amount: bigint, decimals: number): string {
  const exact = formatExact(amount, decimals)
  const [whole = '', fraction = ''] = exact.split('.')
  // A price or a fee can be far below one: its first digits are what it is about.
  const zeros = /^-?0$/.test(whole) ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  const shown = zeros + SHOWN_DECIMALS
  return fraction.length <= shown ? exact : `${whole}.${fraction.slice(0, shown)}…`
}

/**
 * Reads an amount that a person has written in the unit for people, into the smallest unit.
 * @returns A sentence where it is not one: nothing is rounded, and nothing is guessed.
 */
export function parseAmount(text: string, decimals: number): bigint | string {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? []
  if (whole === undefined) return 'Enter a number such as 1250.5.'
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) return `There are at most ${decimals} digits after the point.`
  return BigInt(whole + digits.padEnd(decimals, '0'))
}

/** Amounts in sentences of the service about balances: with their unit, or behind and before the words that they have there. Prices are none. */
const TOLD_AMOUNTS =
  /\b\d+(?: (?:wei|stroops|lamports)\b(?! per))|(?<=\b(?:min_balance (?:is|keeps)|warn_balance is|can cost|this (?:one needs|costs) up to|that are open) )\d+\b|\b\d+(?= are reserved)/g

/** Sentences about rules, in which every number behind these words is an amount of the native currency. */
const ABOUT_RULES = [
  /\b(?:value|fees) up to \d+ per \S+ on \S+; \d+ is left, and this transaction needs up to \d+/g,
  /\ba value above \d+ native on \S+ needs an approval, and this transaction moves \d+/g,
]

/** The amounts in them. Names of networks have digits, too. */
const RULED_AMOUNTS = /(?<=\b(?:up to|above|moves) |; )\d+(?: native)?(?![\w:.-]*\d)/g

/** Writes the amounts of a sentence of the service in the unit for people, with every digit. */
export function withAmounts(sentence: string, { symbol, decimals }: Currency): string {
  const show = (told: string) => `${formatExact(BigInt(/^\d+/.exec(told)?.[0] ?? 0), decimals)} ${symbol}`
  const ruled = ABOUT_RULES.reduce(
    (told, pattern) => told.replaceAll(pattern, (found) => found.replaceAll(RULED_AMOUNTS, show)),
    sentence,
  )
  return ruled.replaceAll(TOLD_AMOUNTS, show)
}

/** The decimals of a gwei. */
export const GWEI_DECIMALS = 9

/** Writes a price of gas in gwei. */
export const formatGwei = (wei: bigint): string => `${formatShort(wei, GWEI_DECIMALS)} gwei`
