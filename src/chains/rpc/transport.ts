import type { GuardedHttpClient } from '../../security/guarded-http-client.ts'

/** One HTTP request that brings JSON to an endpoint. */
export interface HttpQuestion {
  readonly url: string
  readonly body: string
  /** From the first byte to the last, the connection included. */
  readonly timeoutMs: number
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | null
}

/** Asks an endpoint over a connection that is kept. Rejects when there is no complete answer; redirects are not followed. */
export type Transport = (request: HttpQuestion) => Promise<HttpAnswer>

const HEADERS = { 'content-type': 'application/json' }

/** For urls that the operator chose: wherever they lead. */
export const trustedTransport: Transport = async ({ url, body, timeoutMs }) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: HEADERS,
    body,
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  })
  // Read in any case: only then is the connection free for the next request.
  const text = await response.text()
  return { status: response.status, text, retryAfter: response.headers.get('retry-after') }
}

/** For urls that callers chose: the poster decides where they may lead. */
export function guardedTransport(httpClient: GuardedHttpClient): Transport {
  return async (request) => {
    const { status, headers, body } = await httpClient.post({ ...request, headers: HEADERS })
    return { status, text: body, retryAfter: headers['retry-after'] ?? null }
  }
}
