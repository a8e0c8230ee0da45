import { createHttpClient, type HttpClient, type HttpClientOptions } from '../lib/http/http-client.ts'
import { type AddressPolicy, checkLiteral, guardedLookup } from './guarded-lookup.ts'
import { createNameResolver, type NameResolverOptions } from './names/resolver.ts'

/** An HTTP client that connects only to addresses that its policy allows. */
export type GuardedHttpClient = HttpClient

export interface GuardedHttpClientOptions
  extends Pick<HttpClientOptions, 'wholeBodyBytes' | 'budget' | 'idleSockets'> {
  /** The way to resolve names. */
  readonly names?: NameResolverOptions
}

/**
 * Creates a client for urls that somebody else chose. It checks the address of every connection, so that a url cannot lead to metadata
 * services or internal networks (SSRF); `post` rejects with a `ForbiddenAddressError` then. Each client has its own resolver of names, so
 * that the names of one do not wait for those of another.
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
