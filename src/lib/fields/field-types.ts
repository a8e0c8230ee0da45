import { toInteger } from '../to-integer.ts'

/** The type of a field in a configuration file or a request. */
export interface FieldType<T> {
  /** Completes "must be …". */
  readonly expected: string
  /** Returns undefined for a value of another type. */
  read(value: unknown): T | undefined
  /** Replaces a value that has a problem, so that reading goes on and finds the next problem. The caller drops the result then. */
  readonly blank: T
}

const U128_MAX = 2n ** 128n - 1n
const INT64_MAX = 2n ** 63n - 1n
const PUBLIC_KEY = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Ids are segments of URLs, where dots alone lead upwards, and parts of log messages. The contract has the same pattern. */
const ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/

/** A text that is not empty. */
export const text: FieldType<string> = {
  expected: 'a text that is not empty',
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
export const u128 = amountUpTo(U128_MAX, '2^128-1')

/** An exact amount in stroops or lamports, written in the same way. */
export const int64 = amountUpTo(INT64_MAX, '2^63-1')

function amountUpTo(max: bigint, name: string): FieldType<bigint> {
  return {
    expected: `a whole number from 0 to ${name} (or such a number as a string)`,
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
  expected: 'an address: 0x and 40 hex digits',
  read: (value) => (typeof value === 'string' && ADDRESS.test(value) ? value.toLowerCase() : undefined),
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
