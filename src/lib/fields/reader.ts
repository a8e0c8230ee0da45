import { suggest } from '../suggest.ts'
import type { FieldType } from './field-types.ts'

/** Reads one object, field by field, and collects problems instead of failing at the first. */
export interface Reader {
  /** The path of the object in messages: `relayers[0]`. */
  readonly path: string
  /** Reads a required field. */
  get<T>(key: string, type: FieldType<T>): T
  /** Reads a field that may be absent or null. */
  find<T>(key: string, type: FieldType<T>): T | undefined
  /** Reads a list of plain values; an absent list is empty. */
  list<T>(key: string, type: FieldType<T>): T[]
  /** Reads the untyped items of a list with their paths; an absent list is empty. */
  items(key: string): { value: unknown; path: string }[]
  /** Opens the objects of a list. Returns undefined when the list is absent. */
  objects(key: string): Reader[] | undefined
  /** Opens a nested object. Returns undefined when the field is absent or not an object. */
  object(key: string): Reader | undefined
  /** Returns the field unread, and marks it as known. */
  raw(key: string): unknown
  /** Accepts fields of existing files that have no effect here. */
  ignore(...keys: string[]): void
  /** Reports a problem of the object, or of one of its fields. */
  problem(text: string, key?: string): void
  /** Reports every field that was not read. Call it last. */
  finish(): void
}

/** Opens a value. Reports a problem and returns undefined when it is not an object. */
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
    objects: (key) =>
      raw(key) === undefined
        ? undefined
        : items(key).flatMap((item) => openReader(item.value, item.path, problems) ?? []),
    object(key) {
      const value = raw(key)
      return value === undefined ? undefined : openReader(value, pathOf(key), problems)
    },
    ignore: (...keys) => keys.forEach((key) => void known.add(key)),
    problem(text, key) {
      const at = key === undefined ? path : pathOf(key)
      problems.push(at ? `${at} ${text}` : text)
    },
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
