import type { LookupFunction } from 'node:net'
import { createByteBudget } from '../../lib/http/byte-budget.ts'
import { createHttpClient, type HttpClient } from '../../lib/http/http-client.ts'
import { createJsonMeter } from '../../lib/json-meter.ts'
import { createLookup } from '../../security/names/lookup.ts'
import { createNameResolver } from '../../security/names/resolver.ts'
import { type AnswerLimits, FREE_ANSWER_BYTES, MAX_ANSWER_BYTES, MAX_DEPTH } from './answer-limits.ts'

/** One HTTP request that brings JSON to an endpoint. */
export interface HttpQuestion {
  readonly url: string
  readonly body: string
  /** Covers everything from opening the connection to the last byte of the answer, in ms. */
  readonly timeoutMs: number
  readonly limits: AnswerLimits
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined
  /** The number of JSON values in the text. */
  readonly values: number
}

/** Asks an endpoint over a connection that is kept. Rejects when there is no complete answer; redirects are not followed. */
export type Transport = (request: HttpQuestion) => Promise<HttpAnswer>

/** Some gateways refuse requests without a user agent. */
const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'relayer' }

/**
 * Creates a transport over an HTTP client. The client decides which addresses it connects to. A request may be sent once more: calls read, or
 * broadcast signed bytes, which nodes execute once, and after a failure the RPC client asks another endpoint the same.
 */
export function httpTransport(httpClient: HttpClient): Transport {
  return async ({ limits: { bytes, values }, ...request }) => {
    const meter = createJsonMeter({ depth: MAX_DEPTH, values })
    const limits = { bytes, inspect: meter.read }
    const { status, headers, body } = await httpClient.post({
      ...request,
      limits,
      headers: HEADERS,
      isRepeatable: true,
    })
    return { status, text: body, retryAfter: headers['retry-after'], values: meter.values() }
  }
}

/** The memory for all answers of the operator's endpoints that are under way, in bytes. They may be many, and large at the same time. */
const TRUSTED_BUDGET_BYTES = 256 * 1024 * 1024

/** Resolves the hosts of urls that the operator chose, apart from those of callers. */
export const trustedLookup: LookupFunction = createLookup(createNameResolver({ asksSystem: true }))

/** The transport for urls that the operator chose: no address is forbidden. All networks share its connections. */
export const trustedTransport: Transport = httpTransport(
  createHttpClient({
    wholeBodyBytes: MAX_ANSWER_BYTES,
    budget: createByteBudget({ bytes: TRUSTED_BUDGET_BYTES, freeBytes: FREE_ANSWER_BYTES }),
    idleSockets: 256,
    lookup: trustedLookup,
  }),
)
