import type {
  ScSpecTypeDef,
  ScSpecTypeMap,
  ScSpecUdtEnumV0,
  ScSpecUdtStructV0,
  ScSpecUdtUnionV0,
} from '@stellar/stellar-sdk/xdr'
import { toInteger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import { CallProblem, callResult, listOf, readFields, readList } from '../../call.ts'
import { contractAddress } from '../check/fields.ts'
import type { StellarRequest } from '../content.ts'
import type { InvokeContractOperation, ScEntry, ScValue } from '../model/operation.ts'
import { isAccountId, isContractAddress } from '../model/strkey.ts'
import type { ContractSpec, SpecReader } from './read-contract-spec.ts'

/** The place of the only operation that such a request may have. */
const AT = 'operations[0]'

/**
 * Puts the arguments in the place of named ones, by the specification of the contract. A call that is not the
 * only operation of its request stays as it is, because the check refuses it.
 */
export async function encodeNamedArgs(
  readSpec: SpecReader,
  request: StellarRequest,
): Promise<Answer<StellarRequest>> {
  const [operation, another] = request.operations ?? []
  if (operation?.type !== 'invoke_contract' || operation.named_args === undefined || another !== undefined)
    return { kind: 'ok', value: request }
  const problem = contractAddress(operation.contract_address, `${AT}.contract_address`)
  if (problem !== undefined) return { kind: 'refused', refusal: { code: 'invalid_request', detail: problem } }
  const spec = await readSpec(operation.contract_address)
  if (spec.kind === 'refused') {
    const { code, detail } = spec.refusal
    return { kind: 'refused', refusal: { code, detail: `${AT}.${detail}` } }
  }
  if (spec.kind !== 'ok') return spec
  return callResult(() => ({ ...request, operations: [withArgs(operation, spec.value)] }))
}

function withArgs(
  { named_args, ...operation }: InvokeContractOperation,
  spec: ContractSpec,
): InvokeContractOperation {
  return { ...operation, args: readArguments(spec, operation.function_name, named_args) }
}

/**
 * Reads the arguments of a function by their names, in the order of the function. Those of an option may be
 * left out.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readArguments({ functions, types }: ContractSpec, name: string, given: unknown): ScValue[] {
  const parameters = functions.get(name)
  if (parameters === undefined)
    throw new CallProblem(
      `${AT}.function_name`,
      `expected a function of the contract, which has ${listOf([...functions.keys()])}`,
    )
  const optional = new Set(
    parameters.flatMap(({ name, type }) => (type.type === 'scSpecTypeOption' ? [name] : [])),
  )
  const path = `${AT}.named_args`
  const names = parameters.map((parameter) => parameter.name)
  const values = readFields(given, path, { names, mayLack: (one) => optional.has(one) })
  return parameters.map((parameter, index) =>
    readValue(parameter.type, values[index], { path: `${path}.${parameter.name}`, depth: 1, types }),
  )
}

/**
 * No contract takes values that are nested deeper (soroban-env-host `DEFAULT_HOST_DEPTH_LIMIT`), and types
 * may refer to themselves.
 */
const MAX_DEPTH = 100

/** The path of a value, its depth, and the types that its own may refer to. */
interface ValueContext {
  readonly path: string
  readonly depth: number
  readonly types: ContractSpec['types']
}

/** Reads the JSON value of a type as an argument in the notation of `args`. */
type ValueReader = (type: ScSpecTypeDef, value: unknown, context: ValueContext) => ScValue

/**
 * Reads the JSON value of a type of a contract as an argument.
 * @throws CallProblem with the place of the first value that does not fit
 */
const readValue: ValueReader = (type, value, context) => {
  const { path, depth } = context
  if (depth > MAX_DEPTH)
    throw new CallProblem(path, `expected values that are nested ${MAX_DEPTH} deep at most`)
  const inside = { ...context, depth: depth + 1 }
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
  context: ValueContext,
): ScValue[] {
  return list.map((item, index) => {
    const type = typeOf(index)
    if (type === undefined) throw new Error('a list has more values than types')
    return readValue(type, item, { ...context, path: `${context.path}[${index}]` })
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
        'the contract accepts a value of any type here, so send args instead of named_args',
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

/** Types whose JSON value is a text, or may be one. */
const WRITTEN_AS_TEXT: ReadonlySet<ScSpecTypeDef['type']> = new Set([
  ...([
    'scSpecTypeSymbol',
    'scSpecTypeString',
    'scSpecTypeAddress',
    'scSpecTypeBytes',
    'scSpecTypeBytesN',
  ] as const),
  ...(['scSpecTypeU32', 'scSpecTypeI32', 'scSpecTypeU64', 'scSpecTypeI64'] as const),
  ...(['scSpecTypeU128', 'scSpecTypeI128', 'scSpecTypeU256', 'scSpecTypeI256'] as const),
])

/**
 * Reads a map: an object where its keys can be texts, or a list of keys with their values for keys of any
 * type.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readMap(
  { keyType, valueType }: ScSpecTypeMap,
  value: unknown,
  { readValue, ...context }: ValueContext & { readonly readValue: ValueReader },
): ScValue {
  const { path } = context
  const textual = WRITTEN_AS_TEXT.has(keyType.type)
  const entry = (
    key: unknown,
    val: unknown,
    at: { readonly key: string; readonly val: string },
  ): ScEntry => ({
    key: readValue(keyType, key, { ...context, path: at.key }),
    val: readValue(valueType, val, { ...context, path: at.val }),
  })
  if (Array.isArray(value))
    return {
      map: value.map((item: unknown, index) => {
        const at = `${path}[${index}]`
        const [key, val] = readFields(item, at, { names: ['key', 'val'] })
        return entry(key, val, { key: `${at}.key`, val: `${at}.val` })
      }),
    }
  if (textual && typeof value === 'object' && value !== null)
    return {
      map: Object.entries(value).map(([key, val]) => {
        const at = `${path}.${key}`
        return entry(key, val, { key: at, val: at })
      }),
    }
  throw new CallProblem(path, `expected ${textual ? 'an object, or ' : ''}a list of objects with key and val`)
}

type Reading = ValueContext & { readonly readValue: ValueReader }

/**
 * Reads a value of a type that the contract defines, as the SDK of contracts encodes it.
 * @throws CallProblem with the place of the first value that does not fit
 */
function readUserType(name: string, value: unknown, reading: Reading): ScValue {
  const type = reading.types.get(name)
  if (type === undefined)
    throw new CallProblem(reading.path, `the specification of the contract lacks the type ${name}; send args`)
  if (type.type === 'scSpecEntryUdtStructV0') return readStruct(type.udtStructV0, value, reading)
  if (type.type === 'scSpecEntryUdtUnionV0') return readUnion(type.udtUnionV0, value, reading)
  return readEnum(type.udtEnumV0, value, reading)
}

/** A structure is a map with the names of its fields; one whose fields have numbers for names is a tuple. */
function readStruct(
  { fields }: ScSpecUdtStructV0,
  value: unknown,
  { readValue, ...context }: Reading,
): ScValue {
  const { path } = context
  const names = fields.map(({ name }) => name.toString())
  if (names.every((name) => /^\d+$/.test(name))) {
    const list = readList(value, path, fields.length)
    return {
      vec: fields.map(({ type }, index) =>
        readValue(type, list[index], { ...context, path: `${path}[${index}]` }),
      ),
    }
  }
  const optional = new Set(names.filter((_, index) => fields[index]?.type.type === 'scSpecTypeOption'))
  const values = readFields(value, path, { names, mayLack: (name) => optional.has(name) })
  return {
    map: fields.map(({ type }, index) => ({
      key: { symbol: names[index] ?? '' },
      val: readValue(type, values[index], { ...context, path: `${path}.${names[index]}` }),
    })),
  }
}

/** A union is a list: the symbol of its case, and the values of the case. */
function readUnion({ cases }: ScSpecUdtUnionV0, value: unknown, { readValue, ...context }: Reading): ScValue {
  const { path } = context
  const [tag, given] = readFields(value, path, {
    names: ['tag', 'values'],
    mayLack: (name) => name === 'values',
  })
  const found = cases.find((one) => one.value.name.toString() === tag)
  if (found === undefined) {
    const names = cases.map((one) => one.value.name.toString())
    throw new CallProblem(`${path}.tag`, `expected one of ${listOf(names)}`)
  }
  const types = found.type === 'scSpecUdtUnionCaseTupleV0' ? found.tupleCase.type : []
  const values = readList(given ?? [], `${path}.values`, types.length)
  const content = types.map((type, index) =>
    readValue(type, values[index], { ...context, path: `${path}.values[${index}]` }),
  )
  return { vec: [{ symbol: String(tag) }, ...content] }
}

/** An enum is the number of its case; the caller may write its name. */
function readEnum({ cases }: ScSpecUdtEnumV0, value: unknown, { path }: Reading): ScValue {
  const found = cases.find((one) => one.name.toString() === value || one.value === value)
  if (found !== undefined) return { u32: found.value }
  const names = cases.map((one) => `${one.name.toString()} (${one.value})`)
  throw new CallProblem(path, `expected one of ${listOf(names)}`)
}
