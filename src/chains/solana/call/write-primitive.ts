import { toInteger } from '../../../lib/to-integer.ts'
import { CallProblem } from '../../call/problem.ts'
import { readBase64 } from '../check/fields.ts'
import { addressBytes, isAddress } from '../wire/base58.ts'
import { INTEGERS, type Primitive } from './idl-type.ts'

/**
 * Encodes a value without parts by Borsh.
 * @throws CallProblem for a value of another type
 */
export function primitiveBytes(name: Primitive, value: unknown, path: string): Uint8Array {
  if (name in INTEGERS) return integerBytes(name as keyof typeof INTEGERS, value, path)
  switch (name) {
    case 'bool':
      if (typeof value === 'boolean') return Uint8Array.of(Number(value))
      throw new CallProblem(path, 'expected true or false')
    case 'string':
      if (typeof value === 'string') return withLength(Buffer.from(value))
      throw new CallProblem(path, 'expected a string')
    case 'bytes':
      return withLength(readBytes(value, path))
    case 'pubkey':
      if (typeof value === 'string' && isAddress(value)) return addressBytes(value)
      throw new CallProblem(path, 'expected an address, 32 bytes in base58')
    default:
      return floatBytes(name === 'f32' ? 4 : 8, value, path)
  }
}

/** Writes a number of items, as Borsh has it before them. */
export function lengthBytes(length: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(length)
  return bytes
}

/**
 * Reads bytes: `{"base64": …}`, `{"hex": …}`, or a list of integers. A text alone could be either, because hexadecimal digits are base64, too.
 * @throws CallProblem for any other value
 */
export function readBytes(value: unknown, path: string): Uint8Array {
  if (Array.isArray(value))
    return Uint8Array.from(
      value.map((item: unknown, index) => integerBytes('u8', item, `${path}[${index}]`)[0] ?? 0),
    )
  const bytes = encodedBytes(value)
  if (bytes !== undefined) return bytes
  throw new CallProblem(path, 'expected a list of integers from 0 to 255, {"base64": …} or {"hex": …}')
}

function encodedBytes(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return undefined
  const { base64, hex } = value as Readonly<Record<string, unknown>>
  if (typeof base64 === 'string') return readBase64(base64)
  return typeof hex === 'string' && /^([0-9a-fA-F]{2})*$/.test(hex) ? Buffer.from(hex, 'hex') : undefined
}

function integerBytes(name: keyof typeof INTEGERS, value: unknown, path: string): Uint8Array {
  const width = INTEGERS[name]
  const range = 1n << BigInt(8 * width)
  const [least, most] = name.startsWith('i') ? [-range / 2n, range / 2n - 1n] : [0n, range - 1n]
  const integer = toInteger(value, true)
  if (integer === undefined || integer < least || integer > most)
    throw new CallProblem(path, `expected a value of type ${name}, an integer from ${least} to ${most}`)
  const hex = BigInt.asUintN(8 * width, integer)
    .toString(16)
    .padStart(2 * width, '0')
  return Buffer.from(hex, 'hex').reverse()
}

/** A double holds every JSON number that is a fraction, and integers up to 2^53. Borsh has no other value than a number. */
function floatBytes(width: 4 | 8, value: unknown, path: string): Uint8Array {
  const finite = typeof value === 'number' && Number.isFinite(width === 4 ? Math.fround(value) : value)
  if (!finite) throw new CallProblem(path, `expected a number of ${8 * width} bits`)
  const bytes = Buffer.alloc(width)
  if (width === 4) bytes.writeFloatLE(value)
  else bytes.writeDoubleLE(value)
  return bytes
}

function withLength(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([lengthBytes(bytes.length), bytes])
}
