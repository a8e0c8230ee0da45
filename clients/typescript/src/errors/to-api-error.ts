import {
  ConflictError,
  type ErrorCode,
  ExecutionRevertedError,
  type Failure,
  ForbiddenError,
  IdempotencyKeyReusedError,
  InsufficientBalanceError,
  InvalidRequestError,
  NotFoundError,
  NotReplaceableError,
  PolicyError,
  RateLimitedError,
  RelayerApiError,
  RelayerPausedError,
  RuleViolatedError,
  UnauthorizedError,
  UnavailableError,
} from './api-error.ts'

type ErrorClass = new (failure: Failure) => RelayerApiError

/** The classes of codes that mean more than their HTTP status. A code that is not listed has the class of its status. */
const CLASS_OF_CODE: Readonly<Partial<Record<ErrorCode, ErrorClass>>> = {
  // It is 401 on operations whose contract has no 403.
  insufficient_scope: ForbiddenError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  invalid_request: InvalidRequestError,
  invalid_json: InvalidRequestError,
  json_too_deep: InvalidRequestError,
  json_too_many_values: InvalidRequestError,
  body_too_large: InvalidRequestError,
  wrong_network_type: InvalidRequestError,
  rule_violated: RuleViolatedError,
  fee_above_cap: PolicyError,
  fee_payer_at_risk: PolicyError,
  gas_price_above_cap: PolicyError,
  policy_violation: PolicyError,
  receiver_not_whitelisted: PolicyError,
  insufficient_balance: InsufficientBalanceError,
  execution_reverted: ExecutionRevertedError,
  replacement_underpriced: NotReplaceableError,
  transaction_not_replaceable: NotReplaceableError,
  relayer_paused: RelayerPausedError,
  relayer_disabled: RelayerPausedError,
  network_unavailable: UnavailableError,
  signer_unavailable: UnavailableError,
}

const CLASS_OF_STATUS: Readonly<Record<number, ErrorClass>> = {
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
}

/** Makes the error of a failed answer. `body` is what could be read of it. */
export function toApiError({ status, headers }: Response, body: unknown): RelayerApiError {
  const { code, error, message } = Object(body) as Readonly<Record<string, unknown>>
  const known = typeof code === 'string' ? (code as ErrorCode) : undefined
  const ErrorOf = (known && CLASS_OF_CODE[known]) ?? CLASS_OF_STATUS[status] ?? RelayerApiError
  return new ErrorOf({
    status,
    code: known,
    message: String(
      error ?? message ?? `HTTP status ${status}, without a body of the service. Check baseUrl.`,
    ),
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfterOf(headers),
  })
}

/** Reads `Retry-After`, in seconds; proxies may write a date. */
function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - now) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
