import { mapFields } from './map-fields.ts'

/**
 * JSON for storage that returns every value unchanged (I10): jsonb has no exact integers for every reader, no times, and no zero bytes in a
 * text. A bigint becomes `{"$int": "…"}`, a Date `{"$time": "…"}`, and a text that jsonb cannot store `{"$text": "…"}` with its UTF-16 (little
 * endian) in base64. No field may have one of these names.
 */

/** Converts a value to plain JSON. Undefined fields are omitted. */
export function toExactJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (typeof value === 'string') return isStorable(value) ? value : { $text: encodeText(value) }
  if (value instanceof Date) return { $time: value.toISOString() }
  if (Array.isArray(value)) return value.map(toExactJson)
  return typeof value === 'object' && value !== null ? mapFields(value, toExactJson) : value
}

/** Restores the value that `toExactJson` converted. */
export function fromExactJson(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(fromExactJson)
  if (typeof stored !== 'object' || stored === null) return stored
  const { $int, $time, $text } = stored as Readonly<Record<string, unknown>>
  if (typeof $int === 'string') return BigInt($int)
  if (typeof $time === 'string') return new Date($time)
  if (typeof $text === 'string') return decodeText($text)
  return mapFields(stored, fromExactJson)
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

function encodeText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('base64')
}

function decodeText(stored: string): string {
  return Buffer.from(stored, 'base64').toString('utf16le')
}
