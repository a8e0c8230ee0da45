/** Tokens for one coin, as a fraction of whole tokens and coins. Both parts are positive. */
export interface Price {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** True if the first price is the lower one, so that the token is dearer there. Pure. */
export function isLess(one: Price, other: Price): boolean {
  return one.numerator * other.denominator < other.numerator * one.denominator
}

/** All of something, in basis points. */
export const BASIS_POINTS = 10_000n

/**
 * Returns the highest of the prices, at which the token is cheapest, so that who takes the token does not pay
 * for the difference; undefined if they differ by more than so many basis points of the lowest one. Pure.
 */
export function agreedPrice(prices: readonly Price[], mostBps: bigint): Price | undefined {
  const sorted = prices.toSorted((one, other) => (isLess(one, other) ? -1 : 1))
  const [low, high] = [sorted.at(0), sorted.at(-1)]
  if (low === undefined || high === undefined) throw new Error('a token has no source of its price')
  const most = {
    numerator: low.numerator * (BASIS_POINTS + mostBps),
    denominator: low.denominator * BASIS_POINTS,
  }
  return isLess(most, high) ? undefined : high
}

/**
 * Reads a positive decimal number of at most 30 digits on each side of its point; undefined for anything
 * else.
 */
export function parseDecimal(text: string): Price | undefined {
  const [, whole, fraction = ''] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const numerator = whole === undefined ? 0n : BigInt(whole + fraction)
  return numerator === 0n ? undefined : { numerator, denominator: 10n ** BigInt(fraction.length) }
}
