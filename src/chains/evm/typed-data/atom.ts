import type { Hex } from 'viem'
import { padHex, toHex } from 'viem/utils'
import { keccak256Hex } from '../../../lib/keccak256.ts'
import { TypedDataProblem } from './problem.ts'

/** Reads a value of one type at a path, and returns the 32 bytes that encode it (EIP-712, `encodeData`). */
export type Encoder = (value: unknown, path: string) => Hex

const WORD = { size: 32 } as const

/** A text with more characters is no integer of 256 bits, in decimal or hexadecimal digits, and is not parsed. */
const MOST_DIGITS = 80

/** Returns the encoder of a type that is neither a struct nor an array; undefined for an unknown type. */
export function atomEncoder(type: string): Encoder | undefined {
  const fixed = FIXED[type]
  if (fixed !== undefined) return fixed
  const [, family, digits = ''] = /^(uint|int|bytes)([1-9][0-9]*)$/.exec(type) ?? []
  const size = Number(digits)
  if (family === 'bytes') return size <= 32 ? bytesEncoder(size) : undefined
  if (family === undefined || size > 256 || size % 8 !== 0) return undefined
  return integerEncoder(family === 'int', size)
}

const FIXED: Readonly<Record<string, Encoder | undefined>> = Object.assign(Object.create(null), {
  address: hexEncoder(20, (hex) => padHex(hex, WORD)),
  bytes: hexEncoder(undefined, (hex) => keccak256Hex(Buffer.from(hex.slice(2), 'hex'))),
  bool: (value: unknown, path: string) => {
    if (typeof value === 'boolean') return toHex(value, WORD)
    throw new TypedDataProblem(path, 'true or false is expected')
  },
  string: (value: unknown, path: string) => {
    if (typeof value === 'string') return keccak256Hex(Buffer.from(value))
    throw new TypedDataProblem(path, 'a string is expected')
  },
})

function bytesEncoder(size: number): Encoder {
  return hexEncoder(size, (hex) => padHex(hex, { ...WORD, dir: 'right' }))
}

/** Encodes bytes, written as `0x` hex in any letter case; `size` is undefined for any number of bytes. */
function hexEncoder(size: number | undefined, encode: (hex: Hex) => Hex): Encoder {
  return (value, path) => {
    const fits =
      typeof value === 'string' &&
      /^0x([0-9a-fA-F]{2})*$/.test(value) &&
      (size === undefined || value.length === 2 + 2 * size)
    if (fits) return encode(value.toLowerCase() as Hex)
    const count = size === undefined ? 'an even number of' : `${2 * size}`
    throw new TypedDataProblem(path, `0x and ${count} hexadecimal digits are expected`)
  }
}

function integerEncoder(signed: boolean, bits: number): Encoder {
  const range = 1n << BigInt(bits)
  const [least, most] = signed ? [-range / 2n, range / 2n - 1n] : [0n, range - 1n]
  return (value, path) => {
    const integer = readInteger(value)
    if (integer !== undefined && integer >= least && integer <= most)
      return toHex(BigInt.asUintN(256, integer), WORD)
    throw new TypedDataProblem(path, `an integer from ${least} to ${most} is expected`)
  }
}

/** Reads a JSON integer, decimal digits, or `0x` hex; undefined for any other value. */
export function readInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || value.length > MOST_DIGITS) return undefined
  return /^(0|-?[1-9][0-9]*|0x[0-9a-fA-F]+)$/.test(value) ? BigInt(value) : undefined
}
