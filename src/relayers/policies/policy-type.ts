import { type FieldType, oneOf, whole } from '../../lib/fields/field-types.ts'
import type { Reader } from '../../lib/fields/reader.ts'
import { toInteger } from '../../lib/to-integer.ts'

/** The type of a policy's value: it reads documents of people, and it decodes stored JSON. */
export interface PolicyType<T> {
  /** Reads a field of a configuration file or of a request. Returns undefined when the field is absent. */
  read(policies: Reader, field: string): T | undefined
  /** Converts stored JSON to the value. Returns undefined when it is of another type. */
  decode(stored: unknown): T | undefined
}

/** An amount. The database keeps it as a decimal string, because JSON numbers lose digits. */
export function amount(type: FieldType<bigint>): PolicyType<bigint> {
  return {
    read: (policies, field) => policies.find(field, type),
    decode: (stored) => toInteger(stored, true),
  }
}

/** A value that JSON holds as it is. */
export function plain<T>(type: FieldType<T>): PolicyType<T> {
  return { read: (policies, field) => policies.find(field, type), decode: (stored) => type.read(stored) }
}

/** A whole number. A release that narrows the range still reads what an earlier one has stored. */
export function count(min: number, max: number): PolicyType<number> {
  return {
    ...plain(whole(min, max)),
    decode: (stored) => (typeof stored === 'number' && Number.isSafeInteger(stored) ? stored : undefined),
  }
}

/** One of these words. */
export function choice<const T extends string>(...words: readonly [T, ...T[]]): PolicyType<T> {
  return plain(oneOf(...words))
}

/** A list of texts. An empty list differs from an absent one: it allows nothing. */
export function listOf(item: FieldType<string>): PolicyType<readonly string[]> {
  return {
    read: (policies, field) => (policies.raw(field) === undefined ? undefined : policies.list(field, item)),
    decode: (stored) =>
      Array.isArray(stored) && stored.every((text) => typeof text === 'string') ? stored : undefined,
  }
}
