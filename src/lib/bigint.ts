declare const meaning: unique symbol

/**
 * An integer with one meaning. The compiler refuses one with another meaning, and an integer without any, in
 * its place.
 */
export type Quantity<Meaning extends string> = bigint & { readonly [meaning]: Meaning }

/** `Math.max` and `Math.min` know no bigint. */
export function larger<T extends bigint>(a: T, b: T): T {
  return a > b ? a : b
}

export function smaller<T extends bigint>(a: T, b: T): T {
  return a < b ? a : b
}

/**
 * No double has more digits, and the contract accepts far fewer. Longer integers are refused before they cost
 * time.
 */
export const MAX_DIGITS = 400

/**
 * Converts a value to an exact integer: a whole number, a bigint, or, with `strings`, decimal digits without
 * a plus sign or leading zeros. Returns undefined for any other value.
 */
export function toInteger(value: unknown, strings: boolean): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (!strings || typeof value !== 'string' || value.length > MAX_DIGITS) return undefined
  return /^(0|-?[1-9]\d*)$/.test(value) ? BigInt(value) : undefined
}

/** Writes an amount in coins: in digits without loss, and without zeros at the end. */
export function inCoins(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const at = digits.length - decimals
  const fraction = digits.slice(at).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, at) : `${digits.slice(0, at)}.${fraction}`
}
