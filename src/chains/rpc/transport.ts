import type { LookupFunction } from 'node:net'
import { createByteBudget } from '../../lib/http/byte-budget.ts'
import { createHttpClient, type HttpClient } from '../../lib/http/http-client.ts'
import { createJsonMeter } from '../../lib/json.ts'
import { createLookup, createNameResolver } from '../../security/name-resolver.ts'
import type { RpcCall } from './rpc.ts'

/** The most that is read of an answer. */
export interface AnswerLimits {
  readonly bytes: number
  /** The most JSON values. They bound the memory and the time of parsing. */
  readonly values: number
}

/**
 * The limits of answers to the service's own questions, where a chain does not name larger ones for a method.
 */
const OWN_ANSWER: AnswerLimits = { bytes: 1024 * 1024, values: 100_000 }

/**
 * The limits of everything that one `…/rpc` request of an API caller is answered with. The contract documents
 * the bytes.
 */
const FORWARDED_ANSWER: AnswerLimits = { bytes: 8 * 1024 * 1024, values: 250_000 }

/** No response is longer than this, in bytes, for any call. */
export const MAX_ANSWER_BYTES = 24 * 1024 * 1024

/**
 * The first bytes of an answer that do not count for the memory of all: answers to most questions are
 * shorter.
 */
export const FREE_ANSWER_BYTES = 64 * 1024

/**
 * Traces of deep calls nest two levels for each call; parsers that keep the spelling of numbers overflow the
 * stack at some thousand levels.
 */
const MAX_DEPTH = 512

/** The limits of the answers to one request, which may take several HTTP requests. */
export interface AnswerAllowance {
  limitsFor(calls: readonly RpcCall[]): AnswerLimits
  /** Records what an answer held. */
  spend(answer: AnswerLimits): void
}

/**
 * Creates the allowance of the service's own questions: an HTTP request may be answered with as much as its
 * largest method allows.
 */
export function ownAllowance(largeAnswers: Readonly<Record<string, AnswerLimits>>): AnswerAllowance {
  const limitsOf = ({ method }: RpcCall) => largeAnswers[method] ?? OWN_ANSWER
  return {
    limitsFor: (calls) =>
      calls.map(limitsOf).reduce(
        (most, { bytes, values }) => ({
          bytes: Math.max(most.bytes, bytes),
          values: Math.max(most.values, values),
        }),
        OWN_ANSWER,
      ),
    spend: () => {},
  }
}

/**
 * Creates the allowance of a caller's request. Its answers share it, because the service holds them all until
 * it answers the caller.
 */
export function forwardedAllowance(): AnswerAllowance {
  let left = FORWARDED_ANSWER
  return {
    limitsFor: () => left,
    spend: ({ bytes, values }) => {
      left = { bytes: Math.max(0, left.bytes - bytes), values: Math.max(0, left.values - values) }
    },
  }
}

/** One HTTP request that sends JSON to an endpoint. */
interface HttpQuestion {
  readonly url: string
  readonly body: string
  /** Covers everything from opening the connection to the last byte of the answer, in ms. */
  readonly timeoutMs: number
  readonly limits: AnswerLimits
}

interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined
  /** The number of JSON values in the text. */
  readonly values: number
}

/**
 * Calls an endpoint over a kept connection. Rejects without a complete response; redirects are not followed.
 */
export type Transport = (request: HttpQuestion) => Promise<HttpAnswer>

/** Some gateways refuse requests without a user agent. */
const HEADERS = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'relayer' }

/**
 * Creates a transport over an HTTP client. The client decides which addresses it connects to. A request may
 * be sent again: calls read, or broadcast signed bytes, which nodes execute once, and after a failure the RPC
 * client sends the same to another endpoint.
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

/**
 * The memory for all answers of the operator's endpoints that are under way, in bytes. They may be many, and
 * large at the same time.
 */
const TRUSTED_BUDGET_BYTES = 256 * 1024 * 1024

/** Resolves the hosts of urls that the operator chose, apart from those of callers. */
export const trustedLookup: LookupFunction = createLookup(createNameResolver({ asksSystem: true }))

/**
 * The transport for urls that the operator chose: no address is forbidden. All networks share its
 * connections.
 */
export const trustedTransport: Transport = httpTransport(
  createHttpClient({
    wholeBodyBytes: MAX_ANSWER_BYTES,
    budget: createByteBudget({ bytes: TRUSTED_BUDGET_BYTES, freeBytes: FREE_ANSWER_BYTES }),
    idleSockets: 256,
    lookup: trustedLookup,
  }),
)
