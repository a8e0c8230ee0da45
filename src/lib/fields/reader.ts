import { suggest } from '../suggest.ts'
import type { FieldType } from './field-types.ts'

/** Reads one object of the file, field by field, and writes down what is wrong instead of failing. */
export interface Reader {
  /** Where we are, for messages: `relayers[0]`. */
  readonly path: string
  /** A required field. */
  get<T>(key: string, type: FieldType<T>): T
  /** A field that may be absent or null. */
  find<T>(key: string, type: FieldType<T>): T | undefined
  /** A list of plain values; absent is empty. */
  list<T>(key: string, type: FieldType<T>): T[]
  /** The untyped items of a list with their places; absent is empty. */
  items(key: string): { value: unknown; path: string }[]
  /** A nested object; undefined when it is absent or none. */
  object(key: string): Reader | undefined
  /** The field as it is, or undefined. Counts as known. */
  raw(key: string): unknown
  /** Accepts fields that have no meaning here but stand in existing files. */
  ignore(...keys: string[]): void
  problem(text: string): void
  /** To be called last: every field that nobody asked for is a problem. */
  finish(): void
}

/** Undefined, with a problem, when `value` is no object. */
export function openReader(value: unknown, path: string, problems: string[]): Reader | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push(`${path || 'the file'} must be an object`)
    return undefined
  }
  return createReader(new Map(Object.entries(value)), path, problems)
}

function createReader(fields: ReadonlyMap<string, unknown>, path: string, problems: string[]): Reader {
  const known = new Set<string>()
  const pathOf = (key: string) => (path ? `${path}.${key}` : key)

  function raw(key: string): unknown {
    known.add(key)
    return fields.get(key) ?? undefined
  }

  function typed<T>(value: unknown, type: FieldType<T>, at: string): T {
    return readValue(value, type, { at, problems })
  }

  function items(key: string) {
    const value = raw(key) ?? []
    const list = Array.isArray(value) ? value : []
    if (!Array.isArray(value)) problems.push(`${pathOf(key)} must be a list`)
    return list.map((item, index) => ({ value: item, path: `${pathOf(key)}[${index}]` }))
  }

  return {
    path,
    raw,
    items,
    get: (key, type) => typed(raw(key), type, pathOf(key)),
    find(key, type) {
      const value = raw(key)
      return value === undefined ? undefined : typed(value, type, pathOf(key))
    },
    list: (key, type) => items(key).map((item) => typed(item.value, type, item.path)),
    object(key) {
      const value = raw(key)
      return value === undefined ? undefined : openReader(value, pathOf(key), problems)
    },
    ignore: (...keys) => keys.forEach((key) => void known.add(key)),
    problem: (text) => void problems.push(path ? `${path} ${text}` : text),
    finish() {
      for (const key of fields.keys()) {
        if (!known.has(key)) problems.push(`${pathOf(key)} is not known${suggest(key, known)}`)
      }
    },
  }
}

function readValue<T>(
  value: unknown,
  type: FieldType<T>,
  { at, problems }: { readonly at: string; readonly problems: string[] },
): T {
  const result = type.read(value)
  if (result !== undefined) return result
  problems.push(`${at} ${value === undefined ? 'is missing: it ' : ''}must be ${type.expected}`)
  return type.blank
}
