import type { RelayerApiError } from '../errors/api-error.ts'
import { RelayerConnectionError } from '../errors/connection-error.ts'
import { toApiError } from '../errors/to-api-error.ts'
import { parseAnswer } from '../exact-json.ts'
import { retryDelay } from './retry.ts'
import { sleep } from './sleep.ts'

type Fetch = (request: Request) => Promise<Response>

interface TransportOptions {
  readonly fetch: Fetch
  /** The time for one try, its whole answer included, in ms. A stream has it for its headers. */
  readonly timeoutMs: number
  readonly maxRetries: number
}

/** A try: an answer with its body, a failed one with its error, or no answer. */
type Outcome =
  | { readonly answer: Response; readonly error?: RelayerApiError }
  | { readonly answer?: never; readonly error: RelayerConnectionError }

/**
 * Makes a fetch that reads answers completely and exactly, and sends a request again where that is safe. Streams are passed on unread.
 * It rejects with RelayerConnectionError when there is no answer, and with the reason of the request's signal when that aborts.
 */
export function createTransport({ fetch, timeoutMs, maxRetries }: TransportOptions): Fetch {
  return async (request) => {
    for (let retry = 1; ; retry += 1) {
      const { answer, error } = await tryOnce(request, { fetch, timeoutMs })
      const delay = error && retry <= maxRetries ? retryDelay({ request, error, retry }) : undefined
      if (delay !== undefined) await sleep(delay, request)
      else if (answer === undefined) throw error
      else return answer
    }
  }
}

async function tryOnce(
  request: Request,
  { fetch, timeoutMs }: Pick<TransportOptions, 'fetch' | 'timeoutMs'>,
): Promise<Outcome> {
  const timeout = new AbortController()
  const ms = timeoutMs + waitOf(request)
  const timer = setTimeout(() => timeout.abort(new Error(`${ms} ms are over`)), ms)
  try {
    const signal = AbortSignal.any([request.signal, timeout.signal])
    return await readAnswer(await fetch(new Request(request.clone(), { signal })))
  } catch (cause) {
    request.signal.throwIfAborted()
    return { error: new RelayerConnectionError({ request, cause, mayHaveArrived: !neverLeft(cause) }) }
  } finally {
    clearTimeout(timer)
  }
}

/** The time in ms for which the request asks the service to delay its answer: `?wait=mined&timeout=20`. */
function waitOf({ url }: Request): number {
  const query = new URL(url).searchParams
  return query.has('wait') ? Number(query.get('timeout') ?? DEFAULT_WAIT_SECONDS) * 1_000 : 0
}

/** The default of `timeout` in the contract. */
const DEFAULT_WAIT_SECONDS = 10

/** The errors of the system that come before the first byte of a request leaves. */
const BEFORE_THE_REQUEST: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

function neverLeft(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown }
  return BEFORE_THE_REQUEST.has((Object(cause) as { readonly code?: unknown }).code)
}

/** Statuses without a body, which a response cannot be made of with one. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

async function readAnswer(response: Response): Promise<Outcome> {
  const { status, statusText } = response
  if (contentType(response) === 'text/event-stream') return { answer: response }
  const text = await response.text()
  const headers = new Headers(response.headers)
  // The text is no longer compressed. openapi-fetch asks a response of known length for its JSON, and rounds that of any other.
  headers.delete('content-encoding')
  headers.set('content-length', String(new TextEncoder().encode(text).length))
  const answer = new Response(WITHOUT_BODY.has(status) ? null : text, { status, statusText, headers })
  const body = contentType(response) === 'application/json' ? parseAnswer(text) : text
  Object.defineProperty(answer, 'json', { value: async () => body })
  return answer.ok ? { answer } : { answer, error: toApiError(answer, body) }
}

function contentType({ headers }: Response): string {
  return (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
