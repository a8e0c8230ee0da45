import { WIDE_FIELDS } from './generated/operations.ts'

/** The source text access of ES2026, which engines have and the TypeScript library does not declare yet. */
const engine = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

/**
 * Checks that the runtime has what the client is built on.
 *
 * @throws Error that says what is needed, in Node.js before 22 and in other runtimes without source text access of JSON
 */
export function requireRuntime(): void {
  if (typeof engine.rawJSON === 'function' && typeof Promise.withResolvers === 'function') return
  const { process } = globalThis as { readonly process?: { readonly version?: string } }
  const found = process?.version === undefined ? 'this runtime has not' : `this is Node.js ${process.version}`
  throw new Error(
    `multichain-relayer-client needs Node.js 22 or later, or a runtime with JSON.rawJSON and Promise.withResolvers; ${found}.`,
  )
}

/** JSON.parse can only change an integer that has at least 16 digits. */
const MAY_CHANGE = /\d{16}/
const INTEGER = /^-?\d+$/

/** Reads JSON without rounding: an integer beyond 2^53 - 1 becomes a bigint. */
export function parseJson(text: string): unknown {
  if (!MAY_CHANGE.test(text)) return JSON.parse(text)
  return engine.parse(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source)
      ? BigInt(source)
      : value,
  )
}

/**
 * Reads JSON whose fields the contract describes: in addition, an integer is a bigint wherever the contract allows more than 53 bits, however
 * small it is this time.
 */
export function parseContractJson(text: string): unknown {
  return widen(parseJson(text), false)
}

/** Reads an answer. One without the envelope of the service, such as a reply of JSON-RPC, has fields of which the contract knows nothing. */
export function parseAnswer(text: string): unknown {
  const value = parseJson(text)
  return typeof (Object(value) as { readonly success?: unknown }).success === 'boolean'
    ? widen(value, false)
    : value
}

/** Writes JSON with each bigint as an exact integer. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? engine.rawJSON(field.toString()) : field,
  )
}

/** Changes a fresh value in place. Items of a list are as wide as its name says. */
function widen(value: unknown, wide: boolean): unknown {
  if (typeof value === 'number') return wide && Number.isInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  for (const [name, field] of Object.entries(fields)) {
    const widened = widen(field, Array.isArray(value) ? wide : WIDE_FIELDS.has(name))
    if (widened !== field) fields[name] = widened
  }
  return value
}
