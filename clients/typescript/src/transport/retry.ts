import { type ErrorCode, RelayerApiError } from '../errors/api-error.ts'
import type { RelayerConnectionError } from '../errors/connection-error.ts'
import { isTransient } from '../errors/is-transient.ts'
import { isBatch } from './item-keys.ts'

/** The first pause is at most this long, in ms; the limit doubles with each further one. */
const FIRST_PAUSE_MS = 250

/** No pause is longer, in ms, unless the service asks for it. */
const LONGEST_PAUSE_MS = 5_000

/** A caller learns about a longer `Retry-After` than this, in seconds, instead of waiting for it. */
const LONGEST_RETRY_AFTER_SECONDS = 60

/** The codes by which the service says that it changed nothing. */
const NOTHING_CHANGED: ReadonlySet<ErrorCode | undefined> = new Set([
  'rate_limited',
  'network_unavailable',
  'signer_unavailable',
])

/** A try that failed. */
interface Failed {
  readonly request: Request
  readonly error: RelayerApiError | RelayerConnectionError
  /** Counts from 1. */
  readonly retry: number
}

/**
 * Decides after how many ms a request is sent again; undefined: never. A request that could take effect twice is sent again only when it took
 * no effect the first time.
 */
export function retryDelay({ request, error, retry }: Failed): number | undefined {
  if (!isTransient(error) || !(isRepeatable(request) || tookNoEffect(error))) return undefined
  const { retryAfterSeconds = 0 } = error instanceof RelayerApiError ? error : {}
  if (retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS) return undefined
  return Math.max(retryAfterSeconds * 1000, backoffMs(retry))
}

/** Draws from the upper half of the exponential limit. Jitter keeps callers that failed together from coming back together. */
export function backoffMs(retry: number): number {
  const limit = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (retry - 1))
  return (limit / 2) * (1 + Math.random())
}

/** A request can be repeated when it only reads, or when the service recognises it by its key or by those of its items. */
function isRepeatable(request: Request): boolean {
  const { method, headers } = request
  return method === 'GET' || method === 'HEAD' || headers.has('idempotency-key') || isBatch(request)
}

function tookNoEffect(error: RelayerApiError | RelayerConnectionError): boolean {
  return error instanceof RelayerApiError ? NOTHING_CHANGED.has(error.code) : !error.mayHaveArrived
}
