import type { Hex } from 'viem'
import type { Steps } from '../../../lib/concurrency/in-turns.ts'
import { keccak256Hex } from '../../../lib/keccak256.ts'
import type { TypedDocument, TypedField } from '../content.ts'
import { type Encoder as AtomEncoder, atomEncoder } from './atom.ts'
import { TypedDataProblem } from './problem.ts'

type Types = TypedDocument['types']

/** Computes `hashStruct` of EIP-712 from the struct's type, its value, and its path in error messages; a step for each value. */
export type StructHasher = (type: string, value: unknown, path: string) => Steps<Hex>

/** Reads a value at a path, and returns the 32 bytes that encode it, like that of an atom but in steps. */
type Encoder = (value: unknown, path: string) => Steps<Hex>

/**
 * Creates a hasher for values of these types. It describes each type once, so that a long list of structs costs no more than its values.
 * @throws TypedDataProblem when a value does not match its type, or a type does not exist
 */
export function createStructHasher(types: Types): StructHasher {
  const encoders = new Map<string, Encoder>()
  const encoderOf = (type: string, path: string): Encoder => {
    const known = encoders.get(type)
    if (known !== undefined) return known
    const encoder = makeEncoder(type, path)
    encoders.set(type, encoder)
    return encoder
  }
  const makeEncoder = (type: string, path: string): Encoder => {
    const [, item, count] = /^(.+)\[([0-9]*)\]$/.exec(type) ?? []
    if (item !== undefined) return arrayEncoder(encoderOf(item, path), count ? Number(count) : undefined)
    const atom = atomEncoder(type)
    if (atom !== undefined) return inOneStep(atom)
    const fields = fieldsOf(types, type)
    if (fields === undefined)
      throw new TypedDataProblem(path, `${type} is no type of EIP-712 and not in types`)
    return structEncoder(keccak256Hex(Buffer.from(describeType(types, type))), fields, encoderOf)
  }
  return function* (type, value, path) {
    if (fieldsOf(types, type) !== undefined && atomEncoder(type) === undefined)
      return yield* encoderOf(type, path)(value, path)
    throw new TypedDataProblem('body.primaryType', 'the name of a struct in types is expected')
  }
}

function inOneStep(atom: AtomEncoder): Encoder {
  return function* (value, path) {
    yield
    return atom(value, path)
  }
}

function structEncoder(
  typeHash: Hex,
  fields: readonly TypedField[],
  encoderOf: (type: string, path: string) => Encoder,
): Encoder {
  const names = new Set(fields.map(({ name }) => name))
  return function* (value, path) {
    yield
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TypedDataProblem(path, 'an object is expected')
    const unknownField = Object.keys(value).find((name) => !names.has(name))
    if (unknownField !== undefined)
      throw new TypedDataProblem(
        `${path}.${unknownField}`,
        'its type has no such field, so it would not be signed',
      )
    const words = [typeHash]
    for (const { name, type } of fields) {
      const at = `${path}.${name}`
      if (!Object.hasOwn(value, name)) throw new TypedDataProblem(at, `a value of type ${type} is expected`)
      words.push(yield* encoderOf(type, at)((value as Readonly<Record<string, unknown>>)[name], at))
    }
    return hashOf(words)
  }
}

function arrayEncoder(encodeItem: Encoder, count: number | undefined): Encoder {
  return function* (value, path) {
    yield
    if (!Array.isArray(value) || (count !== undefined && value.length !== count)) {
      const size = count === undefined ? '' : ` of ${count} items`
      throw new TypedDataProblem(path, `an array${size} is expected`)
    }
    const words: Hex[] = []
    for (const [index, item] of value.entries()) words.push(yield* encodeItem(item, `${path}[${index}]`))
    return hashOf(words)
  }
}

function hashOf(words: readonly Hex[]): Hex {
  return keccak256Hex(Buffer.from(words.map((word) => word.slice(2)).join(''), 'hex'))
}

/** Returns `encodeType`: the struct, then every struct that it refers to, by name. */
function describeType(types: Types, type: string): string {
  const others = [...referredBy(types, type, new Set())].filter((name) => name !== type).sort()
  return [type, ...others]
    .map((name) => {
      const fields = (fieldsOf(types, name) ?? []).map((field) => `${field.type} ${field.name}`)
      return `${name}(${fields.join(',')})`
    })
    .join('')
}

function referredBy(types: Types, type: string, found: Set<string>): Set<string> {
  if (found.has(type)) return found
  found.add(type)
  for (const field of fieldsOf(types, type) ?? []) {
    const name = field.type.replace(/(\[[0-9]*\])+$/, '')
    if (fieldsOf(types, name) !== undefined && atomEncoder(name) === undefined) referredBy(types, name, found)
  }
  return found
}

function fieldsOf(types: Types, name: string): readonly TypedField[] | undefined {
  return Object.hasOwn(types, name) ? types[name] : undefined
}
