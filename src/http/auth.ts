import { hash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../errors.ts'
import type { Peers } from './connections/peer.ts'
import type { HttpContext } from './state.ts'

/** The sender of a request. */
export interface Caller {
  /** The key of the rate limit: the API key, or the peer address of an unauthenticated caller. */
  readonly limitKey: string
  /** The reason why the credential is not acceptable; undefined for an authenticated caller. */
  readonly refusal: AppError | undefined
}

/** Identifies the sender of a request by its `Authorization` header. */
export type Authenticate = (context: HttpContext) => Caller

const MISSING = new AppError(
  'unauthorized',
  'Send the header Authorization with the value "Bearer" and your API key.',
)
const UNACCEPTABLE = new AppError('unauthorized', 'This API key is not accepted.')

interface AuthenticatorOptions {
  readonly apiKeys: readonly string[]
  readonly peers: Peers
  /** Called for each request with a valid key. */
  readonly onAuthenticated?: (context: HttpContext) => void
}

/**
 * Creates the check of API keys. It keeps and compares hashes only, in constant time and always against every key, so that
 * the time reveals neither the length of a key nor a common beginning.
 */
export function createAuthenticator({ apiKeys, peers, onAuthenticated }: AuthenticatorOptions): Authenticate {
  if (apiKeys.length === 0) throw new Error('at least one API key is needed')
  const hashes = apiKeys.map(digest)
  return (context) => {
    const { authorization = '' } = context.headers
    const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    const key = token === undefined ? -1 : indexOf(hashes, digest(token))
    if (key >= 0) {
      onAuthenticated?.(context)
      return { limitKey: `key ${key}`, refusal: undefined }
    }
    const limitKey = `peer ${peers.ofRequest(context.req)}`
    return { limitKey, refusal: token === undefined ? MISSING : UNACCEPTABLE }
  }
}

/** @throws AppError `unauthorized` for an unauthenticated caller */
export function requireCredential({ refusal }: Caller): void {
  if (refusal !== undefined) throw refusal
}

function indexOf(hashes: readonly Buffer[], wanted: Buffer): number {
  return hashes.reduce((found, known, index) => (timingSafeEqual(known, wanted) ? index : found), -1)
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
