import { toInteger } from './bigint.ts'
import { hasWrongChecksum } from './evm-address.ts'
import { suggest } from './suggest.ts'

/** The type of a field in a configuration file or a request. */
export interface FieldType<T> {
  /** Completes "must be …". */
  readonly expected: string
  /** Returns undefined for a value of another type. */
  read(value: unknown): T | undefined
  /**
   * Replaces a value that has a problem, so that reading continues and finds the next problem. The caller
   * drops the result then.
   */
  readonly blank: T
}

const U128_MAX = 2n ** 128n - 1n
const INT64_MAX = 2n ** 63n - 1n
const PUBLIC_KEY = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/**
 * Ids are segments of URLs, where dots alone lead upwards, and parts of log messages. The contract has the
 * same pattern.
 */
const ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/

/** A text that is not empty. */
export const text: FieldType<string> = {
  expected: 'a non-empty text',
  read: (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
  blank: '',
}

/** The id of a record. */
export const id: FieldType<string> = {
  expected: 'an id of 1 to 100 letters, digits, ".", "_" or "-", not beginning with "."',
  read: (value) => (typeof value === 'string' && ID.test(value) ? value : undefined),
  blank: '',
}

/** True or false. */
export const flag: FieldType<boolean> = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  blank: false,
}

/** A whole number that fits a JavaScript number. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): FieldType<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return {
    expected: `a whole number ${range}`,
    read: (value) => {
      const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
      return fits ? value : undefined
    },
    blank: min,
  }
}

/** An exact amount in wei: a JSON integer of any size, or a decimal string. */
export const u128 = amountUpTo(U128_MAX, '2^128-1', 'wei')

/** An exact amount in stroops or lamports, written in the same way. */
export const int64 = amountUpTo(INT64_MAX, '2^63-1', 'stroops or lamports')

/** An exact amount of a token in its base units, written in the same way. */
export const tokenAmount = amountUpTo(U128_MAX, '2^128-1', 'base units of the token')

function amountUpTo(max: bigint, name: string, unit: string): FieldType<bigint> {
  return {
    expected: `a whole number of ${unit} from 0 to ${name}, also as a string`,
    read: (value) => {
      const amount = toInteger(value, true)
      return amount !== undefined && amount >= 0n && amount <= max ? amount : undefined
    },
    blank: 0n,
  }
}

/** A url that the service sends requests to. */
export const httpUrl = urlOf(['http:', 'https:'], 'an http:// or https:// url')

/** WebSocket urls announce new blocks. */
export const rpcUrl = urlOf(['http:', 'https:', 'ws:', 'wss:'], 'an http://, https://, ws:// or wss:// url')

function urlOf(protocols: readonly string[], expected: string): FieldType<string> {
  return {
    expected,
    read: (value) => {
      if (typeof value !== 'string' || !URL.canParse(value)) return undefined
      return protocols.includes(new URL(value).protocol) ? value : undefined
    },
    blank: '',
  }
}

/** The value is in lower case, because policies compare addresses. */
export const address: FieldType<string> = {
  expected: 'an address: 0x and 40 hex digits, in one letter case or with the right checksum (EIP-55)',
  read: (value) =>
    typeof value === 'string' && ADDRESS.test(value) && !hasWrongChecksum(value)
      ? value.toLowerCase()
      : undefined,
  blank: '',
}

/** 32 bytes in base58; the chain checks the number of bytes. */
export const publicKey: FieldType<string> = {
  expected: 'an address: 32 bytes in base58',
  read: (value) => (typeof value === 'string' && PUBLIC_KEY.test(value) ? value : undefined),
  blank: '',
}

/** One of these words. */
export function oneOf<const T extends string>(...names: readonly [T, ...T[]]): FieldType<T> {
  return {
    expected: names.map((name) => `"${name}"`).join(' or '),
    read: (value) => names.find((name) => name === value),
    blank: names[0],
  }
}

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
  /** Opens the objects of a list. Returns undefined if the list is absent. */
  objects(key: string): Reader[] | undefined
  /** Opens a nested object. Returns undefined if the field is absent or not an object. */
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

/** Opens a value. Reports a problem and returns undefined if it is not an object. */
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

/**
 * The service cannot use the configuration. Every problem is one sentence that names the field; none contains
 * a secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  - ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/** A file of the configuration exists, and this process may not read it. */
export class UnreadableConfigError extends Error {
  override readonly name = 'UnreadableConfigError'

  constructor(sentence: string) {
    super(sentence)
  }
}

/** The configuration file does not exist: a new user needs directions, not a list of problems. */
export class MissingConfigError extends Error {
  override readonly name = 'MissingConfigError'
  /** The absolute path of the missing file. */
  readonly file: string

  constructor(file: string) {
    super(`There is no configuration file ${file}.`)
    this.file = file
  }
}
