import { storableText } from '../database/text.ts'
import { mapFields } from '../lib/map-fields.ts'

/** Converts a value to JSON that jsonb returns unchanged, so that its hash can be computed again: integers of any size become decimal digits. */
export function toLoggable(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return storableText(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(toLoggable)
  return typeof value === 'object' && value !== null ? mapFields(value, toLoggable) : value
}
