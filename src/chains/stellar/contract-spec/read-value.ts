import type { ScSpecTypeDef } from '@stellar/stellar-sdk/xdr'
import { toInteger } from '../../../lib/to-integer.ts'
import { CallProblem } from '../../call/problem.ts'
import { readFields, readList } from '../../call/read-fields.ts'
import type { ScValue } from '../model/sc-value.ts'
import { isAccountId, isContractAddress } from '../model/strkey.ts'
import type { ContractSpec } from './contract-spec.ts'
import { readMap } from './read-map.ts'
import { readUserType } from './read-user-type.ts'

/** No contract takes values that are nested deeper (soroban-env-host `DEFAULT_HOST_DEPTH_LIMIT`), and types may refer to themselves. */
const MAX_DEPTH = 100

/** The path of a value, its depth, and the types that its own may refer to. */
export interface ValueContext {
  readonly path: string
  readonly depth: number
  readonly types: ContractSpec['types']
}

/** Reads the JSON value of a type as an argument in the notation of `args`. */
export type ValueReader = (type: ScSpecTypeDef, value: unknown, place: ValueContext) => ScValue

/**
 * Reads the JSON value of a type of a contract as an argument.
 * @throws CallProblem with the place of the first value that does not fit
 */
export const readValue: ValueReader = (type, value, place) => {
  const { path, depth } = place
  if (depth > MAX_DEPTH)
    throw new CallProblem(path, `expected values that are nested ${MAX_DEPTH} deep at most`)
  const inside = { ...place, depth: depth + 1 }
  switch (type.type) {
    case 'scSpecTypeOption':
      return isAbsent(value) ? 'void' : readValue(type.option.valueType, value, inside)
    case 'scSpecTypeResult': {
      const [ok] = readFields(value, path, { names: ['ok'] })
      return readValue(type.result.okType, ok, { ...inside, path: `${path}.ok` })
    }
    case 'scSpecTypeVec': {
      const { elementType } = type.vec
      return { vec: readItems(readList(value, path), () => elementType, inside) }
    }
    case 'scSpecTypeTuple': {
      const { valueTypes } = type.tuple
      return {
        vec: readItems(readList(value, path, valueTypes.length), (index) => valueTypes[index], inside),
      }
    }
    case 'scSpecTypeMap':
      return readMap(type.map, value, { ...inside, readValue })
    case 'scSpecTypeUdt':
      return readUserType(type.udt.name.toString(), value, { ...inside, readValue })
    default:
      return readSimple(type, value, path)
  }
}

/** Returns true for a value that an option may have in place of its own. */
function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function readItems(
  list: readonly unknown[],
  typeOf: (index: number) => ScSpecTypeDef | undefined,
  place: ValueContext,
): ScValue[] {
  return list.map((item, index) => {
    const type = typeOf(index)
    if (type === undefined) throw new Error('a list has more values than types')
    return readValue(type, item, { ...place, path: `${place.path}[${index}]` })
  })
}

type Simple = Exclude<
  ScSpecTypeDef,
  {
    readonly type: `scSpecType${'Option' | 'Result' | 'Vec' | 'Tuple' | 'Map' | 'Udt'}`
  }
>

function readSimple(type: Simple, value: unknown, path: string): ScValue {
  switch (type.type) {
    case 'scSpecTypeBool':
      if (typeof value === 'boolean') return { bool: value }
      throw new CallProblem(path, 'expected true or false')
    case 'scSpecTypeVoid':
      if (isAbsent(value)) return 'void'
      throw new CallProblem(path, 'expected null')
    case 'scSpecTypeBytes':
      return { bytes: readHex(value, path) }
    case 'scSpecTypeBytesN':
      return { bytes: readHex(value, path, type.bytesN.n) }
    case 'scSpecTypeString':
      if (typeof value === 'string') return { string: value }
      throw new CallProblem(path, 'expected a string')
    case 'scSpecTypeSymbol':
      if (typeof value === 'string' && /^[A-Za-z0-9_]{0,32}$/.test(value)) return { symbol: value }
      throw new CallProblem(path, 'expected a symbol: at most 32 letters, digits and underscores')
    case 'scSpecTypeAddress':
    case 'scSpecTypeMuxedAddress':
      if (typeof value === 'string' && (isAccountId(value) || isContractAddress(value)))
        return { address: value }
      throw new CallProblem(path, 'expected a Stellar address, G… or C…, with its checksum')
    case 'scSpecTypeVal':
    case 'scSpecTypeError':
      throw new CallProblem(
        path,
        'the contract takes a value of any type here, so send args in place of named_args',
      )
    default:
      return readInteger(type.type, value, path)
  }
}

function readHex(value: unknown, path: string, count?: number): string {
  const fits =
    typeof value === 'string' &&
    /^([0-9a-fA-F]{2})*$/.test(value) &&
    (count === undefined || value.length === 2 * count)
  if (fits) return value
  throw new CallProblem(
    path,
    `expected ${count === undefined ? 'bytes' : `${count} bytes`} in hexadecimal digits, without 0x`,
  )
}

/** The types of integers, with their names in arguments and their bits. */
const INTEGERS = {
  scSpecTypeU32: { name: 'u32', bits: 32 },
  scSpecTypeI32: { name: 'i32', bits: 32 },
  scSpecTypeU64: { name: 'u64', bits: 64 },
  scSpecTypeI64: { name: 'i64', bits: 64 },
  scSpecTypeTimepoint: { name: 'timepoint', bits: 64 },
  scSpecTypeDuration: { name: 'duration', bits: 64 },
  scSpecTypeU128: { name: 'u128', bits: 128 },
  scSpecTypeI128: { name: 'i128', bits: 128 },
  scSpecTypeU256: { name: 'u256', bits: 256 },
  scSpecTypeI256: { name: 'i256', bits: 256 },
} as const

function readInteger(type: keyof typeof INTEGERS, value: unknown, path: string): ScValue {
  const { name, bits } = INTEGERS[type]
  const range = 1n << BigInt(bits)
  const [least, most] = name.startsWith('i') ? [-range / 2n, range / 2n - 1n] : [0n, range - 1n]
  const integer = toInteger(value, true)
  if (integer === undefined || integer < least || integer > most)
    throw new CallProblem(path, `expected a value of type ${name}, an integer from ${least} to ${most}`)
  if (bits === 32) return { [name]: Number(integer) }
  return bits === 64 ? { [name]: integer } : { [name]: String(integer) }
}
