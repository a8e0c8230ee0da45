import { CallProblem } from '../../call/problem.ts'
import { listOf, readFields, readList } from '../../call/read-fields.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { Definition, Definitions, Fields, Variant } from './definitions.ts'
import type { IdlType, ListType } from './idl-type.ts'
import { lengthBytes, primitiveBytes, readBytes } from './write-primitive.ts'

/** Types may refer to themselves, and an alias needs no level of JSON, so this ends a circle of aliases. */
const MAX_DEPTH = 64

/** The tools with which a value is written. */
export interface ValueWriter {
  readonly out: ByteWriter
  readonly definitions: Definitions
}

/** The place of a value: for sentences, and in the types around it. */
interface Place {
  readonly path: string
  readonly depth: number
}

/**
 * Writes the JSON value of a type by Borsh.
 * @throws CallProblem with the place of the first value that does not fit
 */
function writeValue(writer: ValueWriter, type: IdlType, value: unknown, { path, depth }: Place): void {
  if (depth > MAX_DEPTH)
    throw new CallProblem(path, `expected types that are nested ${MAX_DEPTH} deep at most`)
  const inside = { path, depth: depth + 1 }
  if (type.kind === 'primitive') writer.out.write(primitiveBytes(type.name, value, path), path)
  else if (type.kind === 'option') writeOption(writer, type.item, value, inside)
  else if (type.kind === 'defined') writeDefined(writer, writer.definitions(type.name, path), value, inside)
  else writeList(writer, type, value, inside)
}

/**
 * Writes fields one after the other: an object by their names, or a list for a tuple. An option may be left out of an object.
 * @throws CallProblem with the place of the first value that does not fit
 */
export function writeFields(
  writer: ValueWriter,
  fields: Fields,
  value: unknown,
  { path, depth }: Place,
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

function writeOption(writer: ValueWriter, item: IdlType, value: unknown, place: Place): void {
  writer.out.write(Uint8Array.of(isAbsent(value) ? 0 : 1), place.path)
  if (!isAbsent(value)) writeValue(writer, item, value, place)
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function writeList(writer: ValueWriter, type: ListType, value: unknown, { path, depth }: Place): void {
  const { item } = type
  const isBytes = item.kind === 'primitive' && item.name === 'u8'
  const list = readList(isBytes ? [...readBytes(value, path)] : value, path, type.length)
  if (type.kind === 'vec') writer.out.write(lengthBytes(list.length), path)
  for (const [index, one] of list.entries())
    writeValue(writer, item, one, { path: `${path}[${index}]`, depth })
}

function writeDefined(writer: ValueWriter, definition: Definition, value: unknown, place: Place): void {
  if (definition.kind === 'alias') writeValue(writer, definition.type, value, place)
  else if (definition.kind === 'struct') writeFields(writer, definition.fields, value, place)
  else writeVariant(writer, definition.variants, value, place)
}

/** A variant without fields is its name; another one is an object with its name as the only field. */
function writeVariant(
  writer: ValueWriter,
  variants: readonly Variant[],
  value: unknown,
  { path, depth }: Place,
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
