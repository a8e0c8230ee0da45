import { CallProblem, readList, readObject } from '../../call.ts'

/** Fields with names, or a tuple. A unit has an empty list of either kind. */
export type Fields =
  | { readonly kind: 'named'; readonly fields: readonly Field[] }
  | { readonly kind: 'tuple'; readonly types: readonly IdlType[] }

interface Field {
  readonly name: string
  readonly type: IdlType
}

/** A type that the IDL defines. */
export type Definition =
  | { readonly kind: 'struct'; readonly fields: Fields }
  | { readonly kind: 'enum'; readonly variants: readonly Variant[] }
  | { readonly kind: 'alias'; readonly type: IdlType }

export interface Variant {
  readonly name: string
  readonly fields: Fields
}

/**
 * Finds a type that the IDL defines.
 * @throws CallProblem for an unknown name, an unreadable definition, and a type that Borsh does not encode
 */
export type Definitions = (name: string, path: string) => Definition

/** Creates the definitions of an IDL. Each one is read when a value needs it. */
export function createDefinitions(idl: Readonly<Record<string, unknown>>): Definitions {
  const known = new Map<string, Definition>()
  const locations = placesOf(idl)
  return (name, path) => {
    const definition = known.get(name)
    if (definition !== undefined) return definition
    const location = locations.get(name)
    if (location === undefined)
      throw new CallProblem(path, `expected the type ${name} among the types of call.idl`)
    const read = readDefinition(location.item, location.path)
    known.set(name, read)
    return read
  }
}

interface TypeLocation {
  readonly item: Readonly<Record<string, unknown>>
  readonly path: string
}

/**
 * Anchor before 0.30 keeps the types of accounts apart, and instructions may use them. The first of two
 * definitions counts.
 */
function placesOf(idl: Readonly<Record<string, unknown>>): ReadonlyMap<string, TypeLocation> {
  const locations = new Map<string, TypeLocation>()
  for (const list of ['types', 'accounts']) {
    const items = readList(idl[list] ?? [], `call.idl.${list}`)
    for (const [index, value] of items.entries()) {
      const path = `call.idl.${list}[${index}]`
      const item = readObject(value, path)
      if (typeof item.name === 'string' && item.type !== undefined && !locations.has(item.name))
        locations.set(item.name, { item, path })
    }
  }
  return locations
}

function readDefinition(
  { serialization = 'borsh', generics = [], type }: TypeLocation['item'],
  path: string,
): Definition {
  if (serialization !== 'borsh')
    throw new CallProblem(
      `${path}.serialization`,
      'expected borsh; other encodings are not supported, so send data',
    )
  if (!Array.isArray(generics) || generics.length > 0)
    throw new CallProblem(`${path}.generics`, 'expected none; generic types are not supported, so send data')
  const at = `${path}.type`
  const { kind, fields, variants, alias, value } = readObject(type, at)
  if (kind === 'struct') return { kind, fields: readFieldList(fields, `${at}.fields`) }
  if (kind === 'enum')
    return {
      kind,
      variants: readList(variants, `${at}.variants`).map((one, index) =>
        readVariant(one, `${at}.variants[${index}]`),
      ),
    }
  if (kind === 'type') return { kind: 'alias', type: readType(alias, `${at}.alias`) }
  if (kind === 'alias') return { kind: 'alias', type: readType(value, `${at}.value`) }
  throw new CallProblem(`${at}.kind`, 'expected struct, enum or type')
}

function readVariant(value: unknown, path: string): Variant {
  const { name, fields } = readObject(value, path)
  if (typeof name !== 'string') throw new CallProblem(`${path}.name`, 'expected the name of a variant')
  return { name, fields: readFieldList(fields, `${path}.fields`) }
}

/**
 * Reads a list of fields, each with a name or each without one.
 * @throws CallProblem
 */
function readFieldList(value: unknown, path: string): Fields {
  const list = readList(value ?? [], path)
  const [first] = list
  if (typeof first === 'object' && first !== null && 'name' in first) return readNamedFields(list, path)
  return { kind: 'tuple', types: list.map((type, index) => readType(type, `${path}[${index}]`)) }
}

/**
 * Reads fields that have names, like the arguments of an instruction.
 * @throws CallProblem
 */
export function readNamedFields(list: readonly unknown[], path: string): Extract<Fields, { kind: 'named' }> {
  const fields = list.map((item, index) => {
    const { name, type } = readObject(item, `${path}[${index}]`)
    if (typeof name !== 'string') throw new CallProblem(`${path}[${index}].name`, 'expected a name')
    return { name, type: readType(type, `${path}[${index}].type`) }
  })
  return { kind: 'named', fields }
}

/** The widths of integers, in bytes. */
export const INTEGERS = {
  ...{ u8: 1, u16: 2, u32: 4, u64: 8, u128: 16, u256: 32 },
  ...{ i8: 1, i16: 2, i32: 4, i64: 8, i128: 16, i256: 32 },
} as const

/** Types that have no parts. */
export type Primitive = keyof typeof INTEGERS | 'bool' | 'f32' | 'f64' | 'string' | 'bytes' | 'pubkey'

/** A type of an IDL. */
export type IdlType =
  | { readonly kind: 'primitive'; readonly name: Primitive }
  | { readonly kind: 'option'; readonly item: IdlType }
  | ListType
  | { readonly kind: 'defined'; readonly name: string }

/** A list of as many values as there are, or of `length` values. */
export interface ListType {
  readonly kind: 'vec' | 'array'
  readonly item: IdlType
  /** Only an array has it. */
  readonly length?: number
}

const PRIMITIVES: ReadonlyMap<unknown, Primitive> = new Map([
  ...[...(Object.keys(INTEGERS) as Primitive[]), 'bool', 'f32', 'f64', 'string', 'bytes', 'pubkey'].map(
    (name) => [name, name as Primitive] as const,
  ),
  // Anchor before 0.30 has this name.
  ['publicKey', 'pubkey'] as const,
])

/**
 * Reads a type as IDLs of Anchor write it, before and since 0.30.
 * @throws CallProblem for an unknown type, for generic ones, and for `coption`, which Anchor's own client does not encode: the SPL programs
 *   write it in one way in accounts and in another one in instructions
 */
function readType(value: unknown, path: string): IdlType {
  const primitive = PRIMITIVES.get(value)
  if (primitive !== undefined) return { kind: 'primitive', name: primitive }
  if (typeof value === 'string') throw unknownType(path)
  const type = readObject(value, path)
  if (type.option !== undefined) return { kind: 'option', item: readType(type.option, `${path}.option`) }
  if (type.vec !== undefined) return { kind: 'vec', item: readType(type.vec, `${path}.vec`) }
  if (type.array !== undefined) return readArray(type.array, `${path}.array`)
  if (type.defined !== undefined) return readDefined(type.defined, `${path}.defined`)
  throw unknownType(path)
}

function readArray(value: unknown, path: string): IdlType {
  const [item, length] = Array.isArray(value) ? (value as unknown[]) : []
  if (!Number.isSafeInteger(length) || Number(length) < 0)
    throw new CallProblem(path, 'expected a type and a length; generic lengths are not supported')
  return { kind: 'array', item: readType(item, `${path}[0]`), length: Number(length) }
}

/** Anchor before 0.30 writes only the name. */
function readDefined(value: unknown, path: string): IdlType {
  const { name, generics = [] } = typeof value === 'string' ? { name: value } : readObject(value, path)
  if (typeof name !== 'string') throw new CallProblem(`${path}.name`, 'expected the name of a type')
  if (!Array.isArray(generics) || generics.length > 0)
    throw new CallProblem(`${path}.generics`, 'expected none; generic types are not supported, so send data')
  return { kind: 'defined', name }
}

function unknownType(path: string): CallProblem {
  return new CallProblem(path, 'expected a type such as u64, pubkey, {"vec": …} or {"defined": …}')
}
