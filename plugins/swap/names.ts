import { BASIS_POINTS, type Price, parseDecimal } from '../shared/prices.ts'
import type { Swap } from './config.ts'

// The record of a transaction says by its reference and its description what it is for, so that the day's
// ceiling and reports need no books of their own.

/** The price that a source told. */
export interface ToldPrice {
  readonly source: string
  readonly price: Price
}

/** What a sale was ordered to do. */
export interface Order {
  readonly swap: string
  readonly amount: bigint
  readonly token: string
  readonly least: bigint
  readonly prices: readonly ToldPrice[]
}

/** Names all transactions of a relayer's swaps. */
export function referenceOf(relayerId: string): string {
  return `swap:${relayerId}`
}

/** Names one transaction of a relayer's plan. */
export function keyOf(relayerId: string, plan: number, step: string): string {
  return `swap:${relayerId}:${plan}:${step}`
}

/** Describes a sale. Pure. */
export function describeSale({ swap, amount, token, least, prices }: Order): string {
  const told = prices.map(({ source, price }) => `${source} ${decimalOf(price)}`).join(', ')
  return `Swap ${swap}: sell ${amount} of ${token} for at least ${least}. Tokens for a coin: ${told}.`
}

/** Describes a transaction beside the sale. Pure. */
export function describeStep({ id }: Pick<Swap, 'id'>, does: string): string {
  return `Swap ${id}: ${does}.`
}

const SALE = /^Swap (\S+): sell (\d+) of (\S+) for at least (\d+)\. Tokens for a coin: (.+)\.$/

/** Reads the order in the description of a sale; undefined for any other text. Pure. */
export function readOrder(description = ''): Order | undefined {
  const [, swap, amount, token, least, told] = SALE.exec(description) ?? []
  if (swap === undefined || amount === undefined || token === undefined || least === undefined)
    return undefined
  const prices = (told ?? '').split(', ').flatMap((each) => {
    const [source, text] = each.split(' ')
    const price = parseDecimal(text ?? '')
    return source === undefined || price === undefined ? [] : [{ source, price }]
  })
  return { swap, amount: BigInt(amount), token, least: BigInt(least), prices }
}

/** Prices are told in reports with so many digits after the point. */
const PLACES = 18

/** Writes a price as a decimal, cut off. Pure. */
export function decimalOf({ numerator, denominator }: Price): string {
  const scaled = (numerator * 10n ** BigInt(PLACES)) / denominator
  const digits = scaled.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return digits.slice(0, -PLACES) + (fraction === '' ? '' : `.${fraction}`)
}

/** The decimals of both sides. */
export interface Decimals {
  readonly token: number
  readonly coin: number
}

/** Returns what an amount of the token is worth in the coin, in smallest units, rounded up. Pure. */
export function worthOf(amount: bigint, { numerator, denominator }: Price, decimals: Decimals): bigint {
  const above = amount * denominator * 10n ** BigInt(decimals.coin)
  const below = numerator * 10n ** BigInt(decimals.token)
  return (above + below - 1n) / below
}

/** Returns the least that may arrive: what it is worth without the slippage, rounded up. Pure. */
export function leastOf(worth: bigint, slippageBps: bigint): bigint {
  return (worth * (BASIS_POINTS - slippageBps) + BASIS_POINTS - 1n) / BASIS_POINTS
}

/** Returns how much less than its worth arrived, in basis points; negative if more. Pure. */
export function lossBps(worth: bigint, bought: bigint): bigint {
  return worth === 0n ? 0n : ((worth - bought) * BASIS_POINTS) / worth
}
