/**
 * JSON whose integers lose no digit. JSON.parse rounds integers above 2^53 before anybody can look at them; here the
 * source text of each number decides.
 */

/** Why a text could not be read as JSON. */
export type JsonProblem = 'syntax' | 'depth' | 'surrogate'

/** Thrown by `parseJson`; `problem` tells what is wrong with the text. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly problem: JsonProblem

  constructor(problem: JsonProblem, cause?: unknown) {
    super(`unreadable JSON: ${problem}`, { cause })
    this.problem = problem
  }
}

export interface ParseOptions {
  /** How many arrays and objects may be inside each other. Default 32. */
  readonly maxDepth?: number
}

/** More than any double has and far more than the contract takes; longer integers need not be built to be refused. */
const MOST_DIGITS = 400

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Only texts with a long run of digits, a fraction or an exponent can hold a number that JSON.parse changes. */
const MAY_CHANGE = /\d{16}|\d[.eE]/

/**
 * Reads JSON. Integers are `number` up to 2^53-1 and `bigint` beyond; 1e3 and 1.0 are integers, too, and a number that is
 * not an integer never becomes one. Integers of more than 400 digits read as infinite, fractions that a double cannot tell
 * from an integer as NaN: no schema accepts either. Of duplicate keys the last one counts; `__proto__` is a key
 * like any other.
 *
 * @throws JsonError for malformed text, too deep nesting, or a string with half a surrogate pair, which is no text.
 */
export function parseJson(text: string, options: ParseOptions = {}): unknown {
  if (!withinDepth(text, options.maxDepth ?? 32)) throw new JsonError('depth')
  const value = parse(text)
  if (/\\u[dD][89a-fA-F]/.test(text) && !wellFormed(value)) throw new JsonError('surrogate')
  return value
}

/** Writes JSON with each bigint as an exact integer literal. Fields that are undefined are left out. */
export function stringifyJson(value: unknown, space?: number): string {
  return JSON.stringify(writable(value), undefined, space)
}

/**
 * A value as an exact integer: a whole number, a bigint, or, with `strings`, the decimal digits of one without a plus sign
 * or leading zeros. Undefined for anything else.
 */
export function toInteger(value: unknown, strings: boolean): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (!strings || typeof value !== 'string' || value.length > MOST_DIGITS) return undefined
  return /^(0|-?[1-9]\d*)$/.test(value) ? BigInt(value) : undefined
}

/** `0x` and hexadecimal digits as an exact integer, as Ethereum's tools write quantities; undefined for anything else. */
export function fromHexadecimal(value: unknown): bigint | undefined {
  return typeof value === 'string' && HEXADECIMAL.test(value) ? BigInt(value) : undefined
}

/** Leading zeros count; 128 bits have 32 digits. */
const HEXADECIMAL = /^0x[0-9a-fA-F]{1,32}$/

function parse(text: string): unknown {
  try {
    return MAY_CHANGE.test(text) ? engine.parse(text, reviveNumber) : JSON.parse(text)
  } catch (error) {
    throw new JsonError('syntax', error)
  }
}

function reviveNumber(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined ? exactNumber(context.source) : value
}

/** The number that a JSON literal means: a bigint when it is an integer that a number cannot hold. */
function exactNumber(source: string): number | bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const digits = whole + fraction
  const first = firstNonZero(digits)
  if (first === digits.length) return 0
  const last = lastNonZero(digits)
  const zeros = Number(exponent) - fraction.length + (digits.length - 1 - last)
  if (zeros < 0) return fractionOf(source)
  if (last + 1 - first + zeros > MOST_DIGITS) return sign === '-' ? -Infinity : Infinity
  const integer = BigInt(`${sign}${digits.slice(first, last + 1)}${'0'.repeat(zeros)}`)
  const narrow = Number(integer)
  return Number.isSafeInteger(narrow) ? narrow : integer
}

/** The nearest double may be a whole number although the literal is none (1.0000000000000000001). */
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
 * The value with every bigint in a form that JSON.stringify can write; what holds none is left as it is. A replacer would
 * say the same in one line, but it is called for every field and takes longer than writing the whole list.
 */
function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return literal(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? writableItems(value) : writableFields(value as Record<string, unknown>)
}

function writableItems(items: readonly unknown[]): readonly unknown[] {
  return items.some(mayChange) ? items.map(writable) : items
}

/** Copied at the first change only, and then as a whole: the engine copies a shape it knows much faster than field by field. */
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

/** Most fields are texts and flags: looking is cheaper than asking. */
function mayChange(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && value !== null)
}

/** A number where that is exact, as the engine writes numbers much faster than raw literals. */
function literal(value: bigint): unknown {
  return value <= LARGEST_SAFE && value >= -LARGEST_SAFE ? Number(value) : engine.rawJSON(value.toString())
}

/** What the engine's JSON can do and the TypeScript library does not declare yet: source text access (ES2026). */
const engine = JSON as unknown as {
  parse(text: string, reviver: typeof reviveNumber): unknown
  rawJSON(text: string): unknown
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts brackets outside of strings before JSON.parse sees the text, as reviving goes down recursively. */
function withinDepth(text: string, most: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > most) return false
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return true
}

/** Position of the quote that ends the string which starts at `start`, or the end of the text. */
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
