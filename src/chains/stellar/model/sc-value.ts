/**
 * An argument of a smart contract in the API's notation: the text `void`, or an object with exactly one field, which names the type. 64-bit
 * integers are bigint; wider ones are whole, in decimal digits, or in parts as in XDR.
 */
export type ScValue = 'void' | ScValueFields

export interface ScValueFields {
  readonly bool?: boolean
  readonly u32?: number
  readonly i32?: number
  readonly u64?: bigint
  readonly i64?: bigint
  /** Unix time in seconds. */
  readonly timepoint?: bigint
  /** Seconds. */
  readonly duration?: bigint
  readonly u128?: Parts128 | string
  readonly i128?: Parts128 | string
  readonly u256?: Parts256 | string
  readonly i256?: Parts256 | string
  /** Hexadecimal, without `0x`. */
  readonly bytes?: string
  readonly string?: string
  readonly symbol?: string
  /** `G…` or `C…`. */
  readonly address?: string
  readonly vec?: readonly ScValue[]
  readonly map?: readonly ScEntry[]
}

export interface ScEntry {
  readonly key: ScValue
  readonly val: ScValue
}

/** `Int128Parts` and `UInt128Parts` of XDR: `hi` has the sign. */
export interface Parts128 {
  readonly hi: bigint
  readonly lo: bigint
}

/** `Int256Parts` and `UInt256Parts` of XDR: `hi_hi` has the sign. */
export interface Parts256 {
  readonly hi_hi: bigint
  readonly hi_lo: bigint
  readonly lo_hi: bigint
  readonly lo_lo: bigint
}

/** The types of integers that are wider than 64 bits. */
export type WideType = 'u128' | 'i128' | 'u256' | 'i256'

/** Returns the integer that the value describes. */
export function wideInteger(value: Parts128 | Parts256 | string): bigint {
  if (typeof value === 'string') return BigInt(value)
  if ('hi' in value) return (value.hi << 64n) + value.lo
  return (value.hi_hi << 192n) + (value.hi_lo << 128n) + (value.lo_hi << 64n) + value.lo_lo
}

/** Returns true when an integer fits its type. */
export function fitsWide(type: WideType, integer: bigint): boolean {
  const bits = type.endsWith('128') ? 128 : 256
  const fitting = type.startsWith('i') ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer)
  return fitting === integer
}
