import { toInteger } from '../lib/bigint.ts'
import { fromHexadecimal } from './exact-integers.ts'

/** The range of a wide integer, and its accepted forms besides the JSON integer. */
export interface WideInteger {
  /** Decimal digits, because schemas are written into prepared validators as JSON. */
  readonly minimum: string
  readonly maximum: string
  /** Decimal strings are accepted. */
  readonly strings: boolean
  /** Hexadecimal strings are accepted. */
  readonly hexadecimal: boolean
}

/**
 * Creates a function that gives the exact integer of a value, or undefined for a value of another form or out
 * of range.
 */
export function wideIntegerReader({ minimum, maximum, strings, hexadecimal }: WideInteger) {
  const [least, most] = [BigInt(minimum), BigInt(maximum)]
  return (value: unknown): bigint | undefined => {
    const integer = toInteger(value, strings) ?? (hexadecimal ? fromHexadecimal(value) : undefined)
    return integer === undefined || integer < least || integer > most ? undefined : integer
  }
}
