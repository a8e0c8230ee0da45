import { toInteger } from '../../../lib/bigint.ts'
import { CallProblem, listOf, readFields, readList } from '../../call.ts'
import { readBase64 } from '../policies.ts'
import { addressBytes, isAddress } from '../wire/addresses.ts'
import { MAX_TRANSACTION_BYTES } from '../wire/message.ts'
import {
  type Definition,
  type Definitions,
  type Fields,
  type IdlType,
  INTEGERS,
  type ListType,
  type Primitive,
  type Variant,
} from './idl.ts'

/** Types may refer to themselves, and an alias needs no level of JSON, so this ends a circle of aliases. */
const MAX_DEPTH = 64

/** The tools with which a value is written. */
interface ValueWriter {
  readonly out: ByteWriter
  readonly definitions: Definitions
}

/** The place of a value: for sentences, and in the types around it. */
interface ValueContext {
  readonly path: string
  readonly depth: number
}

/**
 * Writes the JSON value of a type by Borsh.
 * @throws CallProblem with the place of the first value that does not fit
 */
function writeValue(writer: ValueWriter, type: IdlType, value: unknown, { path, depth }: ValueContext): void {
  if (depth > MAX_DEPTH)
    throw new CallProblem(path, `expected types that are nested ${MAX_DEPTH} deep at most`)
  const inside = { path, depth: depth + 1 }
  if (type.kind === 'primitive') writer.out.write(primitiveBytes(type.name, value, path), path)
  else if (type.kind === 'option') writeOption(writer, type.item, value, inside)
  else if (type.kind === 'defined') writeDefined(writer, writer.definitions(type.name, path), value, inside)
  else writeList(writer, type, value, inside)
}

/**
 * Writes fields one after the other: an object by their names, or a list for a tuple. An option may be
 * omitted from an object.
 * @throws CallProblem with the place of the first value that does not fit
 */
export function writeFields(
  writer: ValueWriter,
  fields: Fields,
  value: unknown,
  { path, depth }: ValueContext,
): void {
  if (fields.kind === 'tuple') {
    const list = readList(value, path, fields.types.length)
    for (const [index, type] of fields.types.entries())
      writeValue(writer, type, list[index], { path: `${path}[${index}]`, depth })
    return
  }
  const names = fields.fields.map(({ name }) => name)
  const optional = new Set(fields.fields.flatMap(({ name, type }) => (type.kind === 'option' ? [name] : [])))
  const values = readFields(value, path, { names, mayLack: (name) => optional.has(name) })
  for (const [index, { name, type }] of fields.fields.entries())
    writeValue(writer, type, values[index], { path: `${path}.${name}`, depth })
}

function writeOption(writer: ValueWriter, item: IdlType, value: unknown, context: ValueContext): void {
  writer.out.write(Uint8Array.of(isAbsent(value) ? 0 : 1), context.path)
  if (!isAbsent(value)) writeValue(writer, item, value, context)
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function writeList(writer: ValueWriter, type: ListType, value: unknown, { path, depth }: ValueContext): void {
  const { item } = type
  const isBytes = item.kind === 'primitive' && item.name === 'u8'
  const list = readList(isBytes ? [...readBytes(value, path)] : value, path, type.length)
  if (type.kind === 'vec') writer.out.write(lengthBytes(list.length), path)
  for (const [index, one] of list.entries())
    writeValue(writer, item, one, { path: `${path}[${index}]`, depth })
}

function writeDefined(
  writer: ValueWriter,
  definition: Definition,
  value: unknown,
  context: ValueContext,
): void {
  if (definition.kind === 'alias') writeValue(writer, definition.type, value, context)
  else if (definition.kind === 'struct') writeFields(writer, definition.fields, value, context)
  else writeVariant(writer, definition.variants, value, context)
}

/** A variant without fields is its name; another one is an object with its name as the only field. */
function writeVariant(
  writer: ValueWriter,
  variants: readonly Variant[],
  value: unknown,
  { path, depth }: ValueContext,
): void {
  const named =
    typeof value === 'object' && value !== null ? Object.entries(value) : [[value, undefined] as const]
  const [[name, content] = [undefined, undefined]] = named
  const index = named.length === 1 ? variants.findIndex((variant) => variant.name === name) : -1
  const variant = variants[index]
  if (variant === undefined || index > 255)
    throw new CallProblem(
      path,
      `expected one of the variants ${listOf(variants.map((one) => one.name))}, as text or as the only field of an object`,
    )
  writer.out.write(Uint8Array.of(index), path)
  const { fields } = variant
  const unit = fields.kind === 'tuple' && fields.types.length === 0
  if (unit && isAbsent(content)) return
  writeFields(writer, unit ? { kind: 'named', fields: [] } : fields, content, {
    path: `${path}.${variant.name}`,
    depth,
  })
}

/**
 * Encodes a value without parts by Borsh.
 * @throws CallProblem for a value of another type
 */
function primitiveBytes(name: Primitive, value: unknown, path: string): Uint8Array {
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
function lengthBytes(length: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(length)
  return bytes
}

/**
 * Reads bytes: `{"base64": …}`, `{"hex": …}`, or a list of integers. A plain text could be either, because
 * hexadecimal digits are also base64.
 * @throws CallProblem for any other value
 */
function readBytes(value: unknown, path: string): Uint8Array {
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

/**
 * A double holds every JSON number that is a fraction, and integers up to 2^53. Borsh has no other value than
 * a number.
 */
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

/** Collects the bytes of an instruction's data. */
interface ByteWriter {
  /** @throws CallProblem with the path, when the bytes exceed a transaction */
  write(bytes: Uint8Array, path: string): void
  bytes(): Buffer
}

/**
 * Creates a writer that stops at the size of a transaction, because a small request can describe a large
 * value.
 */
export function createByteWriter(): ByteWriter {
  const parts: Uint8Array[] = []
  let size = 0
  return {
    write: (bytes, path) => {
      size += bytes.length
      if (size > MAX_TRANSACTION_BYTES)
        throw new CallProblem(path, `expected at most ${MAX_TRANSACTION_BYTES} bytes of data up to here`)
      parts.push(bytes)
    },
    bytes: () => Buffer.concat(parts),
  }
}
