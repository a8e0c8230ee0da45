import { timingSafeEqual } from 'node:crypto'
import { hashSecret, hashSecretHex } from '../access/api-key.ts'
import { type Principal, ROOT } from '../access/principal.ts'
import { AppError } from '../errors.ts'
import type { Peers } from './connections/peer.ts'
import { isFromConsole, readCookie, SESSION_COOKIE } from './cookies.ts'
import type { HttpContext } from './state.ts'

/** The sender of a request. */
export interface Caller {
  /** The key of the rate limit: the API key, or the peer address of an unauthenticated caller. */
  readonly limitKey: string
  /** The API key or person; undefined for an unauthenticated caller. */
  readonly principal: Principal | undefined
  /** The reason why the credential is not acceptable; undefined for an authenticated caller. */
  readonly refusal: AppError | undefined
}

/** True for the rate limit of an API key, false for that of an address. */
export function isLimitOfKey(limitKey: string): boolean {
  return limitKey.startsWith(KEY_LIMIT)
}

const KEY_LIMIT = 'key '

/** Names an API key for its rate limit, and for its unread answers. */
export function limitKeyOf({ id }: Pick<Principal, 'id'>): string {
  return KEY_LIMIT + id
}

/**
 * Finds the API key whose secret has this hash, in hex digits, among the records; undefined if none has it,
 * or it is not accepted now. It never sees the secret, so its timing reveals nothing: a changed character
 * changes the whole hash.
 */
export type FindKey = (secretHash: string) => Principal | undefined

/** Identifies the sender of a request by its `Authorization` header, or by the cookie of a session. */
export type Authenticate = (context: HttpContext) => Caller

const MISSING = new AppError(
  'unauthorized',
  'Send the header Authorization with the value "Bearer" and your API key.',
)
const UNACCEPTABLE = new AppError('unauthorized', 'This API key is not accepted.')
const ENDED = new AppError('unauthorized', 'Your session has ended. Sign in again.')
const ELSEWHERE = new AppError(
  'unauthorized',
  'The cookie of a session counts only in requests of the console: from a page of RELAYER_PUBLIC_URL, and with the header X-CSRF-Protection: 1.',
)

interface AuthenticatorOptions {
  /** The keys of the environment. */
  readonly apiKeys: readonly string[]
  readonly findKey: FindKey
  /** Absent if no one can sign in; cookies then have no effect. */
  readonly signIn?: { readonly publicUrl: string; readonly findSession: FindKey } | undefined
  readonly peers: Peers
  /** Called for each request with a valid key. */
  readonly onAuthenticated?: (context: HttpContext) => void
}

/**
 * Creates the check of API keys. It keeps and compares hashes only, in constant time and always against every
 * key, so that the time reveals neither the length of a key nor a common beginning.
 */
export function createAuthenticator({
  apiKeys,
  findKey,
  signIn,
  peers,
  onAuthenticated,
}: AuthenticatorOptions): Authenticate {
  if (apiKeys.length === 0) throw new Error('at least one API key is needed')
  const hashes = apiKeys.map(hashSecret)
  // Both lookups happen for every secret, so that timing does not reveal a key of the environment.
  const identify = (token: string) => {
    const digits = hashSecretHex(token)
    const found = findKey(digits)
    return isAmong(hashes, Buffer.from(digits, 'hex')) ? ROOT : found
  }
  const ofHeader = (authorization: string): Principal | AppError => {
    const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    return token === undefined ? MISSING : (identify(token) ?? UNACCEPTABLE)
  }
  const ofCookie = (context: HttpContext): Principal | AppError => {
    const secret = signIn && readCookie(context, SESSION_COOKIE)
    if (signIn === undefined || secret === undefined) return MISSING
    if (!isFromConsole(context, signIn.publicUrl)) return ELSEWHERE
    return signIn.findSession(hashSecretHex(secret)) ?? ENDED
  }
  return (context) => {
    const { authorization } = context.headers
    // A header decides alone, even if it is not acceptable: its sender means that key.
    const found = authorization === undefined ? ofCookie(context) : ofHeader(authorization)
    if (!(found instanceof AppError)) {
      onAuthenticated?.(context)
      return { limitKey: limitKeyOf(found), principal: found, refusal: undefined }
    }
    return { limitKey: `peer ${peers.ofRequest(context.req)}`, principal: undefined, refusal: found }
  }
}

/** @throws AppError `unauthorized` for an unauthenticated caller */
export function requireCredential({ refusal }: Caller): void {
  if (refusal !== undefined) throw refusal
}

function isAmong(hashes: readonly Buffer[], wanted: Buffer): boolean {
  return hashes.reduce((found, known) => timingSafeEqual(known, wanted) || found, false)
}
