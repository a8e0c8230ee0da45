import { RelayerError } from './relayer-error.ts'

interface Unanswered {
  readonly request: Request
  readonly cause: unknown
  /** False when the request cannot have reached the service. */
  readonly mayHaveArrived: boolean
}

/**
 * The service did not answer: there was no connection, or it was lost, or the time was over. `cause` is the error of the last try. When
 * `mayHaveArrived` is true, the service may have done what was asked.
 */
export class RelayerConnectionError extends RelayerError {
  override readonly name = 'RelayerConnectionError'
  readonly mayHaveArrived: boolean
  /** Repeat the request with this key, and the service executes it at most once. Absent for operations without such a key. */
  readonly idempotencyKey: string | undefined

  constructor({ request, cause, mayHaveArrived }: Unanswered) {
    const path = new URL(request.url).pathname
    super(`${request.method} ${path} got no answer: ${reasonOf(cause)}`, { cause })
    this.mayHaveArrived = mayHaveArrived
    this.idempotencyKey = request.headers.get('idempotency-key') ?? undefined
  }
}

/** The error of fetch says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown }
  return String(message || code || cause)
}
