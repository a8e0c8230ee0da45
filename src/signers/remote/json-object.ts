import { RemoteFault } from './remote-key.ts'

/** An answer of a service, before its fields are checked. */
export type JsonObject = Readonly<Record<string, unknown>>

/** @throws RemoteFault for a body that is not a JSON object; the parser's own message could quote a secret */
export function readJsonObject(body: string): JsonObject {
  const parsed = parse(body)
  if (!isJsonObject(parsed)) throw new RemoteFault('unavailable', 'gave an answer that cannot be read')
  return parsed
}

/** Returns the object in a field; empty when there is none. */
export function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field]
  return isJsonObject(value) ? value : {}
}

/** Returns the text in a field; empty when there is none. */
export function textIn(object: JsonObject, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
