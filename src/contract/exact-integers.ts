import { randomUUID } from 'node:crypto'
import { MAX_DIGITS } from '../lib/bigint.ts'

/**
 * This file reads and writes JSON with exact integers. JSON.parse rounds integers above 2^53 before a program
 * can see them; here the source text of each number decides.
 */

/** The reason why a text is not acceptable JSON. */
export type JsonProblem = 'syntax' | 'depth' | 'values' | 'surrogate'

/** `parseJson` throws this error; `problem` names the reason. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly problem: JsonProblem

  constructor(problem: JsonProblem, cause?: unknown) {
    super(`unreadable JSON: ${problem}`, { cause })
    this.problem = problem
  }
}

/** The limits of `parseJson`. */
export interface ParseOptions {
  /** The limit of nested arrays and objects. Default 32. */
  readonly maxDepth?: number
  /** The limit of values, containers included. Default: none. */
  readonly maxValues?: number
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** JSON.parse can change a number only in a text with a long run of digits, a fraction or an exponent. */
const MAY_CHANGE = /\d{16}|\d[.eE]/

/**
 * Reads JSON. Integers become `number` up to 2^53-1 and `bigint` beyond; 1e3 and 1.0 are integers as well,
 * and a fraction never becomes an integer. Integers of more than 400 digits become infinite, and fractions
 * that a double cannot distinguish from an integer become NaN; no schema accepts either. The last of several
 * equal keys counts; `__proto__` is a key like any other.
 *
 * @throws JsonError for malformed text, too deep nesting, too many values, or a string with half a surrogate
 * pair, which is no text.
 */
export function parseJson(text: string, options: ParseOptions = {}): unknown {
  const exceeded = exceededLimit(text, options)
  if (exceeded !== undefined) throw new JsonError(exceeded)
  const value = parse(text)
  if (/\\u[dD][89a-fA-F]/.test(text) && !wellFormed(value)) throw new JsonError('surrogate')
  return value
}

/** Writes JSON with each bigint as an exact integer literal. It omits undefined fields. */
export function stringifyJson(value: unknown, space?: number): string {
  return JSON.stringify(writable(value), undefined, space)
}

/**
 * Converts `0x` and hexadecimal digits, the quantities of Ethereum's tools. Returns undefined for any other
 * value.
 */
export function fromHexadecimal(value: unknown): bigint | undefined {
  return typeof value === 'string' && HEXADECIMAL.test(value) ? BigInt(value) : undefined
}

/** 128 bits have 32 digits; leading zeros count. */
const HEXADECIMAL = /^0x[0-9a-fA-F]{1,32}$/

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    const marked = MAY_CHANGE.test(text) ? markNumbers(text) : text
    return marked === text ? value : restoreNumbers(JSON.parse(marked))
  } catch (error) {
    throw new JsonError('syntax', error)
  }
}

/** No input can contain a string that begins with this, because it is different in each process. */
const MARK = `number ${randomUUID()} `

/** The grammar of a number (RFC 8259 §6), at one place of a text. */
const NUMBER_HERE = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * Writes each number that JSON.parse can change as a string with a mark. A reviver would get the same source
 * text, but takes ten times as long, and a body with many such numbers would stop the event loop. The text is
 * valid JSON.
 */
function markNumbers(text: string): string {
  const parts: string[] = []
  let copied = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const number = numberAt(text, at)
      if (MAY_CHANGE.test(number)) {
        parts.push(text.slice(copied, at), `"${MARK}${number}"`)
        copied = at + number.length
      }
      at += number.length - 1
    }
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied)
}

function numberAt(text: string, at: number): string {
  NUMBER_HERE.lastIndex = at
  const [number = ''] = NUMBER_HERE.exec(text) ?? []
  return number
}

/** Replaces the marked strings of a fresh value by their numbers, in place. */
function restoreNumbers(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? exactNumber(value.slice(MARK.length)) : value
  if (typeof value !== 'object' || value === null) return value
  for (const [key, field] of Object.entries(value)) {
    const restored = restoreNumbers(field)
    // A plain assignment to `__proto__` would change the prototype.
    if (restored !== field)
      Object.defineProperty(value, key, {
        value: restored,
        enumerable: true,
        writable: true,
        configurable: true,
      })
  }
  return value
}

/** Returns the number of a JSON literal: a bigint if it is an integer that a number cannot represent. */
function exactNumber(source: string): number | bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const digits = whole + fraction
  const first = firstNonZero(digits)
  if (first === digits.length) return 0
  const last = lastNonZero(digits)
  const zeros = Number(exponent) - fraction.length + (digits.length - 1 - last)
  if (zeros < 0) return fractionOf(source)
  if (last + 1 - first + zeros > MAX_DIGITS) return sign === '-' ? -Infinity : Infinity
  const integer = BigInt(`${sign}${digits.slice(first, last + 1)}${'0'.repeat(zeros)}`)
  const narrow = Number(integer)
  return Number.isSafeInteger(narrow) ? narrow : integer
}

/** Guards against a fraction whose nearest double is a whole number (1.0000000000000000001). */
function fractionOf(source: string): number {
  const nearest = Number(source)
  return Number.isInteger(nearest) ? Number.NaN : nearest
}

function firstNonZero(digits: string): number {
  let at = 0
  while (at < digits.length && digits[at] === '0') at += 1
  return at
}

function lastNonZero(digits: string): number {
  let at = digits.length - 1
  while (at > 0 && digits[at] === '0') at -= 1
  return at
}

const LARGEST_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Gives every bigint a form that JSON.stringify can write. A value without bigints stays the same object. A
 * replacer would be shorter, but JSON.stringify calls it for every field, which takes longer than writing a
 * whole list.
 */
function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return literal(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? writableItems(value) : writableFields(value as Record<string, unknown>)
}

function writableItems(items: readonly unknown[]): readonly unknown[] {
  return items.some(mayChange) ? items.map(writable) : items
}

/**
 * Copies the object at the first change only, and as a whole: the engine copies a known shape much faster
 * than single fields.
 */
function writableFields(object: Record<string, unknown>): object {
  let copy: Record<string, unknown> | undefined
  for (const key in object) {
    const field = object[key]
    if (!mayChange(field)) continue
    const written = writable(field)
    if (written === field) continue
    copy ??= { ...object }
    copy[key] = written
  }
  return copy ?? object
}

/** Skips texts and flags, which are most fields, before the call of `writable`. */
function mayChange(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && value !== null)
}

/** Prefers a number when it is exact, because the engine writes numbers much faster than raw literals. */
function literal(value: bigint): unknown {
  return value <= LARGEST_SAFE && value >= -LARGEST_SAFE ? Number(value) : engine.rawJSON(value.toString())
}

/** The source text access of ES2026, which the engine has and the TypeScript library does not declare yet. */
const engine = JSON as unknown as { rawJSON(text: string): unknown }

const QUOTE = 0x22
const BACKSLASH = 0x5c

const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** Returns the limit that a text exceeds. */
export function exceededLimit(text: string, options: ParseOptions): 'depth' | 'values' | undefined {
  const measured = measureJson(text, options)
  return typeof measured === 'string' ? measured : undefined
}

/**
 * Counts brackets and commas outside of strings before JSON.parse sees the text, because every later step
 * costs time for each value. Returns the number of values, or the limit that the text exceeds.
 */
export function measureJson(
  text: string,
  { maxDepth = 32, maxValues = Number.POSITIVE_INFINITY }: ParseOptions,
): number | 'depth' | 'values' {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (isOpening(code)) {
      depth += 1
      if (depth > maxDepth) return 'depth'
      if (!isClosing(text.charCodeAt(at + 1))) values += 1
    } else if (isClosing(code)) depth -= 1
    else if (code === COMMA) values += 1
    if (values > maxValues) return 'values'
  }
  return values
}

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d
}

/** Finds the quote that ends the string at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}

function wellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && wellFormed(inner))
}
