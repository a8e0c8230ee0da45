import { createHttpClient, type HttpClient } from '../../lib/http-client.ts'
import { createLookup } from '../../security/names/lookup.ts'
import { createNameResolver } from '../../security/names/resolver.ts'

/** One HTTP request that brings JSON to an endpoint. */
export interface HttpQuestion {
  readonly url: string
  readonly body: string
  /** Covers everything from opening the connection to the last byte of the answer, in ms. */
  readonly timeoutMs: number
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined
}

/** Asks an endpoint over a connection that is kept. Rejects when there is no complete answer; redirects are not followed. */
export type Transport = (request: HttpQuestion) => Promise<HttpAnswer>

/** Some gateways refuse requests without a user agent. */
const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'relayer' }

/** Creates a transport over an HTTP client. The client decides which addresses it connects to. */
export function httpTransport(httpClient: HttpClient): Transport {
  return async (request) => {
    const { status, headers, body } = await httpClient.post({ ...request, headers: HEADERS })
    return { status, text: body, retryAfter: headers['retry-after'] }
  }
}

/** The transport for urls that the operator chose: no address is forbidden and no answer is too long. All networks share its connections. */
export const trustedTransport: Transport = httpTransport(
  createHttpClient({
    wholeBodyBytes: Number.POSITIVE_INFINITY,
    idleSockets: 256,
    lookup: createLookup(createNameResolver({ asksSystem: true })),
  }),
)
