import { createHash } from 'node:crypto'
import { toExactJson } from './exact-json.ts'
import { mapFields } from './map-fields.ts'

/** Gives the SHA-256, in hex, of a value as JSON. It ignores the order of fields, and undefined fields. */
export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/** Writes a value as JSON without spaces, its fields in the order of their names, and without undefined fields. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(toExactJson(value)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return mapFields(value, sorted, Object.keys(value).sort())
}
