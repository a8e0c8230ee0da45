import type { PostAnswer } from '../../lib/http/http-client.ts'
import { ForbiddenAddressError } from '../../security/guarded-http-client.ts'
import { RemoteFault } from './remote-key.ts'

/** Translates the failures of a connection. */
export async function answered(answer: Promise<PostAnswer>): Promise<PostAnswer> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof RemoteFault) throw cause
    if (cause instanceof ForbiddenAddressError)
      throw new RemoteFault(
        'refused',
        'is at a private address, which a signer from the API must not use: put it into the configuration file, or set RELAYER_ALLOW_PRIVATE_URLS',
        { cause },
      )
    throw new RemoteFault('unavailable', 'cannot be reached', { cause })
  }
}

/** An answer of a service, before its fields are checked. */
export type JsonObject = Readonly<Record<string, unknown>>

/** @throws RemoteFault for a body that is not a JSON object; the parser's own message could quote a secret */
export function readJsonObject(body: string): JsonObject {
  const parsed = parse(body)
  if (!isJsonObject(parsed)) throw new RemoteFault('unavailable', 'returned an unreadable response')
  return parsed
}

/** Returns the object in a field; empty if there is none. */
export function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field]
  return isJsonObject(value) ? value : {}
}

/** Returns the text in a field; empty if there is none. */
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

interface FailedLogin {
  /** The status of the answer. */
  readonly status: number
  /** Completes "cannot be used: …" for a login that fails until an operator acts. The status is added. */
  readonly refused: string
  /** It then shows the operator where to look. */
  readonly hint?: string
}

/**
 * Translates the status of a failed login. A client error says that the credentials are wrong, except for 408
 * and 429.
 */
export function loginFailure({ status, refused, hint }: FailedLogin, options?: ErrorOptions): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many logins (status 429)', options)
  if (status >= 400 && status < 500 && status !== 408) {
    const advice = hint === undefined ? '' : `; ${hint}`
    return new RemoteFault('refused', `cannot be used: ${refused} (status ${status})${advice}`, options)
  }
  return new RemoteFault('unavailable', `cannot be used: the login failed with status ${status}`, options)
}

/**
 * Copies the name and the code of a library's error. Its other fields can hold the request, with the token in
 * its headers.
 */
export function sanitisedCause(error: unknown): Error {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown }
  return new Error([name, code].filter((part) => typeof part === 'string').join(' ') || 'unknown error')
}
