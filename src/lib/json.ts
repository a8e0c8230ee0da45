import { AnswerTooLargeError } from './http/byte-budget.ts'
import { mapFields } from './object.ts'

/**
 * JSON for storage that returns every value unchanged (I10): jsonb has no exact integers for every reader, no
 * times, and no zero bytes in a text. A bigint becomes `{"$int": "…"}`, a Date `{"$time": "…"}`, and a text
 * that jsonb cannot store `{"$text": "…"}` with its UTF-16 (little endian) in base64. An object with a name
 * that begins with `$`, or that jsonb cannot store, becomes `{"$fields": [[name, value], …]}`.
 */

/** Converts a value to plain JSON. Undefined fields are omitted. */
export function toExactJson(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (typeof value === 'string') return isStorable(value) ? value : { $text: encodeText(value) }
  if (value instanceof Date) return { $time: value.toISOString() }
  if (Array.isArray(value)) return value.map(toExactJson)
  if (typeof value !== 'object' || value === null) return value
  const fields = mapFields(value, toExactJson)
  const isPlain = Object.keys(fields).every((name) => isStorable(name) && !name.startsWith('$'))
  return isPlain ? fields : { $fields: Object.entries(fields).map(([name, one]) => [toExactJson(name), one]) }
}

/** Restores the value that `toExactJson` converted. */
export function fromExactJson(stored: unknown): unknown {
  if (Array.isArray(stored)) return stored.map(fromExactJson)
  if (typeof stored !== 'object' || stored === null) return stored
  const { $int, $time, $text, $fields } = stored as Readonly<Record<string, unknown>>
  if (typeof $int === 'string') return BigInt($int)
  if (typeof $time === 'string') return new Date($time)
  if (typeof $text === 'string') return decodeText($text)
  if (Array.isArray($fields)) return Object.fromEntries(fromExactJson($fields) as [string, unknown][])
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

/** The shape of JSON that may be parsed. */
interface JsonLimits {
  /** The deepest nesting of arrays and objects. */
  readonly depth: number
  /**
   * The most values, containers included. Three bytes make an object that takes fifty, so a limit of bytes
   * does not limit memory.
   */
  readonly values: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const ESCAPE = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Measures a JSON text while its bytes arrive. */
interface JsonMeter {
  /** @throws AnswerTooLargeError as soon as the text exceeds a limit */
  readonly read: (chunk: Uint8Array) => void
  /** Returns the number of values so far, containers included. */
  values(): number
}

/**
 * Creates a meter that measures before anything is parsed. It does not check the grammar: the parser does.
 */
export function createJsonMeter({ depth: maxDepth, values: maxValues }: JsonLimits): JsonMeter {
  let depth = 0
  let values = 1
  let inString = false
  let escaped = false

  /** Returns the index after the string. Most bytes are in strings, where the search for quotes is native. */
  function skipString(chunk: Uint8Array, from: number): number {
    const start = escaped ? from + 1 : from
    const quote = chunk.indexOf(QUOTE, start)
    const end = quote === -1 ? chunk.length : quote
    escaped = hasOpenEscape(chunk, start, end)
    if (quote === -1) return end
    inString = escaped
    // An escaped quote is the byte that the next search passes over.
    return escaped ? quote : quote + 1
  }

  /** Returns the index after the structure, which a string or the end of the chunk ends. */
  function readStructure(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (byte === COMMA) values += 1
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        values += 1
        depth += 1
        if (depth > maxDepth) throw new AnswerTooLargeError(`the answer nests deeper than ${maxDepth} levels`)
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1
      else if (byte === QUOTE) {
        inString = true
        return at + 1
      }
    }
    return chunk.length
  }

  return {
    read: (chunk) => {
      for (let at = 0; at < chunk.length; ) at = inString ? skipString(chunk, at) : readStructure(chunk, at)
      if (values > maxValues) throw new AnswerTooLargeError(`the answer has more than ${maxValues} values`)
    },
    values: () => values,
  }
}

/** Returns true if the byte at `end` is escaped: an odd number of backslashes is before it. */
function hasOpenEscape(bytes: Uint8Array, start: number, end: number): boolean {
  let at = end
  while (at > start && bytes[at - 1] === ESCAPE) at -= 1
  return (end - at) % 2 === 1
}
