import { isIP, type LookupFunction } from 'node:net'
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../lib/http/http-client.ts'
import { type Reach, reachOf } from './address-range.ts'
import {
  createLookup,
  createNameResolver,
  type NameResolver,
  type NameResolverOptions,
} from './name-resolver.ts'

/** An HTTP client that connects only to addresses that its policy allows. */
export type GuardedHttpClient = HttpClient

interface GuardedHttpClientOptions
  extends Pick<HttpClientOptions, 'wholeBodyBytes' | 'budget' | 'idleSockets'> {
  /** The way to resolve names. */
  readonly names?: NameResolverOptions
}

/**
 * Creates a client for untrusted URLs. It checks the address of every connection, so that a url cannot lead
 * to metadata services or internal networks (SSRF); `post` rejects with a `ForbiddenAddressError` then. Each
 * client has its own name resolver, so that clients do not wait for each other's names.
 */
export function createGuardedHttpClient(
  policy: AddressPolicy,
  { names, ...options }: GuardedHttpClientOptions = {},
): GuardedHttpClient {
  return createHttpClient({
    ...options,
    lookup: guardedLookup(policy, createNameResolver(names)),
    checkUrl: (url) => checkLiteral(url, policy),
  })
}

/** The url leads to an address that this service does not connect to. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
  readonly reach: Reach

  constructor(host: string, reach: Reach) {
    const location = reach === 'private' ? 'in a private network' : 'at an address that is never allowed'
    super(`${host} is ${location}`)
    this.reach = reach
  }
}

/** The addresses that connections may use. */
export interface AddressPolicy {
  /**
   * True allows connections to this machine and to private networks. Link-local addresses are never allowed.
   */
  readonly allowPrivate: boolean
}

/** Applies the policy to an address. */
function isAllowed(address: string, { allowPrivate }: AddressPolicy): boolean {
  const reach = reachOf(address)
  return reach === 'public' || (reach === 'private' && allowPrivate)
}

/**
 * Checks a url whose host is an IP address. Such a host has no DNS lookup, so `guardedLookup` does not see
 * it.
 * @throws ForbiddenAddressError
 */
export function checkLiteral(url: URL, policy: AddressPolicy): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0 && !isAllowed(host, policy)) throw new ForbiddenAddressError(host, reachOf(host))
}

/**
 * Creates a `lookup` for sockets that returns only allowed addresses. The check happens at the connection,
 * because a name that was harmless at the configuration can resolve to another address a moment later.
 */
export function guardedLookup(policy: AddressPolicy, resolver: NameResolver): LookupFunction {
  return createLookup(resolver, (host, found) => {
    const allowed = found.filter(({ address }) => isAllowed(address, policy))
    if (allowed.length > 0) return allowed
    throw new ForbiddenAddressError(host, reachOf(found[0]?.address ?? '0.0.0.0'))
  })
}

/**
 * Characters that the url parser removes or rewrites, so that the requested url would differ from the stored
 * one.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for control characters
const UNWRITTEN = /[\u0000-\u0020\u007f]/

/**
 * Describes the problem of a url that a caller of the API chose; undefined if there is none. Host names are
 * resolved only at the connection, because their addresses can change at any time.
 */
export function untrustedUrlProblem(text: string, policy: AddressPolicy): string | undefined {
  const url = URL.canParse(text) && !UNWRITTEN.test(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'expected an http:// or https:// url'
  try {
    checkLiteral(url, policy)
    return undefined
  } catch (error) {
    if (!(error instanceof ForbiddenAddressError)) throw error
    const hint = error.reach === 'private' ? ', which RELAYER_ALLOW_PRIVATE_URLS would allow' : ''
    return `expected a URL that may be reached; ${error.message}${hint}`
  }
}
