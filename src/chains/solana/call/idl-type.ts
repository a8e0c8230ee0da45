import { CallProblem } from '../../call/problem.ts'
import { readObject } from '../../call/read-fields.ts'

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
export function readType(value: unknown, path: string): IdlType {
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

/** Anchor before 0.30 writes the name alone. */
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
