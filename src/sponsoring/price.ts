import type { Answer } from '../chains/answer.ts'
import type { TokenPrice } from '../chains/sponsoring.ts'

/** Tokens for one coin, as a fraction. Both parts are positive. */
export interface Price {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The price that one source told, and its time. */
export interface PriceSample extends Price {
  readonly at: Date
}

/** The age and the difference that a configuration without them allows. */
const DEFAULT_MAX_AGE_SECONDS = 60
const DEFAULT_MAX_DIFFERENCE_PERCENT = 2

/** The clock of a source may be ahead by this much, in ms. A price of later than that is a mistake. */
const AHEAD_MS = 60_000

/**
 * Returns the price that the samples agree on: the one at which the token is cheaper, so that the relayer
 * does not pay for the difference. Pure.
 */
export function agreedPrice(
  samples: readonly PriceSample[],
  {
    max_age_seconds = DEFAULT_MAX_AGE_SECONDS,
    max_difference_percentage = DEFAULT_MAX_DIFFERENCE_PERCENT,
  }: Omit<TokenPrice, 'sources'>,
  now: number,
): Answer<Price> {
  const [first, ...others] = samples
  if (first === undefined) return { kind: 'unknown', detail: 'the token has no source of its price' }
  const untimely = samples.find(
    ({ at }) => now - at.getTime() > max_age_seconds * 1_000 || at.getTime() > now + AHEAD_MS,
  )
  if (untimely !== undefined)
    return {
      kind: 'unknown',
      detail: `a source has a price of ${untimely.at.toISOString()}, which is too old`,
    }
  if (!samples.every(({ numerator, denominator }) => numerator > 0n && denominator > 0n))
    return { kind: 'unknown', detail: 'a source has a price that is not positive' }
  if (others.some((other) => differ(first, other, max_difference_percentage)))
    return {
      kind: 'unknown',
      detail: `the sources of the price differ by more than ${max_difference_percentage} percent`,
    }
  return { kind: 'ok', value: samples.reduce<Price>(higher, first) }
}

function differ(one: Price, other: Price, percent: number): boolean {
  const [a, b] = [one.numerator * other.denominator, other.numerator * one.denominator]
  const [low, high] = a < b ? [a, b] : [b, a]
  return (high - low) * 100n * PERCENT_UNIT > low * percentUnits(percent)
}

function higher(one: Price, other: Price): Price {
  return one.numerator * other.denominator < other.numerator * one.denominator ? other : one
}

/** Percentages have at most four decimals, so they are whole numbers of this part of a percent. */
export const PERCENT_UNIT = 10_000n

/** Returns a percentage in ten-thousandths of a percent. */
export function percentUnits(percent: number): bigint {
  return BigInt(Math.round(percent * Number(PERCENT_UNIT)))
}

/** A number with at most this many digits on each side of its point, and a small exponent. */
const DECIMAL = /^([0-9]{1,40})(?:\.([0-9]{1,40}))?(?:[eE]([+-]?[0-9]{1,2}))?$/

/** Reads a positive decimal number exactly; undefined for anything else. */
export function parseDecimal(text: string): Price | undefined {
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = BigInt(whole + fraction)
  if (digits === 0n) return undefined
  const shift = Number(exponent) - fraction.length
  return shift >= 0
    ? { numerator: digits * 10n ** BigInt(shift), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-shift) }
}
