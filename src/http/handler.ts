import type { IncomingHttpHeaders } from 'node:http'
import type { Actor, Principal } from '../access/principal.ts'
import type { Contract } from '../contract/document.ts'
import type { Input, OperationId, RawInput, Result, TicketFilter } from '../contract/operations.ts'

/** Facts about a request besides its input. */
export interface RequestContext {
  /** Identifies the request in the log; `X-Request-Id` of the answer repeats it. */
  readonly requestId: string
  /**
   * Aborts when the caller has disconnected, the answer was sent, or the time for the request is up. A stream
   * has no time limit.
   */
  readonly signal: AbortSignal
  /** Returns the time in ms after which the request fails with `request_timeout`. */
  timeLeft(): number
  /** Replaces the rest of the time by this one, in ms, for work that may take longer than other requests. */
  allow(ms: number): void
  /** The API key of the caller, with its rights. */
  readonly principal: Principal
  /** The sender, for records of what the request changes. */
  readonly actor: Actor
  /** Absent for a caller with an API key. */
  readonly ticketFilter?: TicketFilter | undefined
  /** The media type that the caller prefers, of those that the operation declares for a success. */
  readonly mediaType: string
  /**
   * The headers as they arrived, by lower-case name, credentials included: hand over only what a list names.
   */
  readonly headers: IncomingHttpHeaders
  /** The bytes of the body as they arrived; absent for a request without one. */
  readonly bytes: Uint8Array | undefined
  /**
   * Counts the transactions or calls of the request after the first one. Call it before anything is done.
   * @throws AppError `rate_limited` if the caller's rate limit has too few units left
   */
  countFurther(units: number): void
  /** Set by a front in the process only: no request can. Absent: none. */
  readonly terms?: SendTerms | undefined
}

/**
 * A front (`handlers/rpc/front.ts`) asks this of `sendTransaction` and `sendTransactionBatch`, because the
 * contract has no words for it. It widens nothing that a caller may do: each field narrows the send, or names
 * it.
 */
export interface SendTerms {
  /** Only the relayer's own account sends, whichever others it has. */
  readonly ownAccount: true
  /**
   * The nonce that the single transaction has to get. It is also its name, the same for all callers: the same
   * content with the same nonce is the same transaction. Another nonce than the next one fails with
   * `NonceError`, and nothing is stored.
   */
  readonly nonce?: bigint | undefined
  /**
   * The end of the wait for the first signature, in ms of the monotonic clock, in place of the parameters
   * `wait` and `timeout`. It ends earlier when the transaction ends or needs an approval.
   */
  readonly signedBy?: number
  /**
   * The caller's name for the whole batch: the same transactions with the same name are the same batch, and
   * others are refused with `idempotency_key_reused`. Its items have this name and their index as their keys.
   */
  readonly batchName?: string | undefined
}

/** The header that tells a plugin's host that a request changed nothing, although its method is not GET. */
export const READ_ONLY_HEADER = 'x-relayer-read-only'

/** The business logic of one operation. */
type Handler<Id extends OperationId> = (input: Input<Id>, context: RequestContext) => Promise<Result<Id>>

/** One handler for each operation of the contract; a missing one does not compile. */
export type HandlerMap = { readonly [Id in OperationId]: Handler<Id> }

/**
 * Admits a call inside the process to an operation as if it came in a separate request: it checks the scope,
 * then the input by the contract.
 *
 * @throws AppError `insufficient_scope`, `invalid_request`, or that there is nothing with an id of the path
 */
export type AdmitCall = <Id extends OperationId>(id: Id, principal: Principal, input: RawInput) => Input<Id>

/**
 * Requires one handler for each operation. The type HandlerMap proves it at compile time; this check finds
 * callers without types, and a build that is older than the contract.
 *
 * @throws Error if an operation has no handler, or a handler has no operation
 */
export function assertHandlers({ operations }: Contract, handlers: HandlerMap): void {
  const declared = operations.map(({ id }) => id)
  const missing = declared.filter((id) => typeof handlers[id] !== 'function')
  const unknown = Object.keys(handlers).filter((id) => !declared.includes(id as OperationId))
  if (missing.length > 0) throw new Error(`No handler for ${missing.join(', ')}`)
  if (unknown.length > 0) throw new Error(`No operation in openapi.yaml for ${unknown.join(', ')}`)
}
