/**
 * An integer as nodes write it: a JSON number where it is small, decimal digits where it may pass 2^53. Undefined for anything
 * else, and for a number that JSON could have rounded.
 */
export function readInteger(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  return typeof value === 'string' && /^-?\d{1,39}$/.test(value) ? BigInt(value) : undefined
}
