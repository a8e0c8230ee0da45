import { CallProblem } from '../../call/problem.ts'
import { readList, readObject } from '../../call/read-fields.ts'
import { type IdlType, readType } from './idl-type.ts'

/** Fields with names, or a tuple. A unit has an empty list of either kind. */
export type Fields =
  | { readonly kind: 'named'; readonly fields: readonly Field[] }
  | { readonly kind: 'tuple'; readonly types: readonly IdlType[] }

export interface Field {
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
  const places = placesOf(idl)
  return (name, path) => {
    const definition = known.get(name)
    if (definition !== undefined) return definition
    const place = places.get(name)
    if (place === undefined)
      throw new CallProblem(path, `expected the type ${name} among the types of call.idl`)
    const read = readDefinition(place.item, place.path)
    known.set(name, read)
    return read
  }
}

interface Place {
  readonly item: Readonly<Record<string, unknown>>
  readonly path: string
}

/** Anchor before 0.30 keeps the types of accounts apart, and instructions may use them. The first of two definitions counts. */
function placesOf(idl: Readonly<Record<string, unknown>>): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const list of ['types', 'accounts']) {
    const items = readList(idl[list] ?? [], `call.idl.${list}`)
    for (const [index, value] of items.entries()) {
      const path = `call.idl.${list}[${index}]`
      const item = readObject(value, path)
      if (typeof item.name === 'string' && item.type !== undefined && !places.has(item.name))
        places.set(item.name, { item, path })
    }
  }
  return places
}

function readDefinition(
  { serialization = 'borsh', generics = [], type }: Place['item'],
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
