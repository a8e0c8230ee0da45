import { createHttpClient, type HttpClient, type HttpClientOptions } from '../lib/http-client.ts'
import { type AddressPolicy, checkLiteral, guardedLookup } from './guarded-lookup.ts'

/** An HTTP client that connects only to addresses that its policy allows. */
export type GuardedHttpClient = HttpClient

export type GuardedHttpClientOptions = Pick<HttpClientOptions, 'wholeBodyBytes' | 'idleSockets'>

/**
 * Creates a client for urls that somebody else chose. It checks the address of every connection, so that a url cannot lead to metadata
 * services or internal networks (SSRF); `post` rejects with a `ForbiddenAddressError` then.
 */
export function createGuardedHttpClient(
  policy: AddressPolicy,
  options: GuardedHttpClientOptions = {},
): GuardedHttpClient {
  return createHttpClient({
    ...options,
    lookup: guardedLookup(policy),
    checkUrl: (url) => checkLiteral(url, policy),
  })
}
