import type { Schemas } from '../operation-types.ts'
import { RelayerError } from './relayer-error.ts'

/** A stable word for the reason of a failure. A newer service can have more. */
export type ErrorCode = Schemas['ErrorCode']

/** What a failed answer says. */
export interface Failure {
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly message: string
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined
}

/** The service answered with a failure. `message` is its sentence for a person. */
export class RelayerApiError extends RelayerError {
  override readonly name: string = 'RelayerApiError'
  /** The HTTP status. */
  readonly status: number
  /** The reason, for programs. Undefined if something other than the service answered, such as a proxy. */
  readonly code: ErrorCode | undefined
  /** `X-Request-Id` of the answer: it leads the operator to the log entry. */
  readonly requestId: string | undefined
  /** `Retry-After` of the answer, in seconds. */
  readonly retryAfterSeconds: number | undefined

  constructor({ message, status, code, requestId, retryAfterSeconds }: Failure) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The API key is missing, unknown, disabled or expired. */
export class UnauthorizedError extends RelayerApiError {
  override readonly name = 'UnauthorizedError'
}

/** The API key may not do this. */
export class ForbiddenError extends RelayerApiError {
  override readonly name = 'ForbiddenError'
}

/** There is no such thing, or the API key may not see it. */
export class NotFoundError extends RelayerApiError {
  override readonly name = 'NotFoundError'
}

/** The request contradicts what is there. */
export class ConflictError extends RelayerApiError {
  override readonly name: string = 'ConflictError'
}

/** The idempotency key belongs to a request with another body. */
export class IdempotencyKeyReusedError extends ConflictError {
  override readonly name = 'IdempotencyKeyReusedError'
}

/** There were too many requests; `retryAfterSeconds` says how long to wait. */
export class RateLimitedError extends RelayerApiError {
  override readonly name = 'RateLimitedError'
}

/** The request is not as the contract describes it; `message` names the field. */
export class InvalidRequestError extends RelayerApiError {
  override readonly name = 'InvalidRequestError'
}

/** A rule for spending, of the API key or of the relayer, refuses the transaction. */
export class RuleViolatedError extends RelayerApiError {
  override readonly name = 'RuleViolatedError'
}

/** A policy of the relayer refuses the transaction. */
export class PolicyError extends RelayerApiError {
  override readonly name = 'PolicyError'
}

/** The account cannot pay for the transaction. */
export class InsufficientBalanceError extends RelayerApiError {
  override readonly name = 'InsufficientBalanceError'
}

/** The transaction would revert; `message` has the decoded reason. */
export class ExecutionRevertedError extends RelayerApiError {
  override readonly name = 'ExecutionRevertedError'
}

/** The transaction cannot be replaced or canceled, or not at this price. */
export class NotReplaceableError extends RelayerApiError {
  override readonly name = 'NotReplaceableError'
}

/** The relayer is paused, or the service has disabled it. */
export class RelayerPausedError extends RelayerApiError {
  override readonly name = 'RelayerPausedError'
}

/** No node of the network, or not the service that holds the key, answers. Nothing was changed. */
export class UnavailableError extends RelayerApiError {
  override readonly name = 'UnavailableError'
}
