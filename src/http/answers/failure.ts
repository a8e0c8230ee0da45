import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { ContractOperation } from '../../contract/document.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError, type ErrorCode, methodNotAllowed } from '../../errors.ts'
import type { Guard, HttpContext } from '../state.ts'

/**
 * `message` of the failure body: the five texts of the interface, and one for each status that it does not
 * have.
 */
const MESSAGES: Readonly<Record<FailureStatus, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The answer to a request that failed. */
interface Failure {
  readonly status: FailureStatus
  readonly headers: Readonly<Record<string, string>>
  readonly body: Schemas['Failure']
}

/**
 * Returns the HTTP response for an error: the status of its code, the headers of that status, and the failure
 * body. An operation that has no 403 answers 401 instead, and one that has no 503 answers 500 with the same
 * code.
 */
export function toFailure(failure: AppError, operation?: ContractOperation): Failure {
  const isUndeclared = STATUS_OF_CODE[failure.code] === 503 && operation?.responses.has(503) === false
  const { code, detail } = failure
  const usual = isUndeclared ? 500 : STATUS_OF_CODE[code]
  const status = usual === 403 && operation?.responses.has(403) === false ? 401 : usual
  const message = MESSAGES[status]
  return {
    status,
    headers: headersOf(failure, status),
    body: { success: false, data: null, message, error: detail, code },
  }
}

function headersOf(error: AppError, status: FailureStatus): Record<string, string> {
  const { retryAfterSeconds, allowedMethods } = error
  return {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && status !== 500 && { 'Retry-After': String(retryAfterSeconds) }),
    ...(allowedMethods !== undefined && { Allow: allowedMethods.join(', ') }),
  }
}

/**
 * Answers bytes that Node cannot read as an HTTP request. Koa never sees them, so this function writes the
 * answer to the socket; the body is that of any other failure.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, log: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const failure = toFailure(failureOf(error.code))
  log.info({ request_id: requestId, code: failure.body.code, reason: error.code }, 'request unreadable')
  const body = JSON.stringify(failure.body)
  const head = [
    `HTTP/1.1 ${failure.status} ${failure.body.message}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function failureOf(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new AppError('headers_too_large', 'The request has too many header bytes.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_too_slow', 'The request did not arrive completely in time.')
  }
  return new AppError('invalid_request', 'This is not a well-formed HTTP request.')
}

/** The HTTP status of a failure. The interface has texts for all but 403, 405, 409, 503 and 504. */
export type FailureStatus = 400 | 401 | 403 | 404 | 405 | 409 | 429 | 500 | 503 | 504

/**
 * The table gives each error code its HTTP status. Nothing else in the service decides the status of a
 * failure.
 */
export const STATUS_OF_CODE: Readonly<Record<ErrorCode, FailureStatus>> = {
  unauthorized: 401,
  rate_limited: 429,
  method_not_allowed: 405,

  insufficient_scope: 403,
  own_approval: 403,
  second_person_required: 403,

  not_found: 404,
  api_key_not_found: 404,
  approval_not_found: 404,
  delivery_not_found: 404,
  network_not_found: 404,
  notification_not_found: 404,
  abi_not_found: 404,
  relayer_not_found: 404,
  plugin_not_found: 404,
  session_not_found: 404,
  proposal_not_found: 404,
  schedule_not_found: 404,
  signer_not_found: 404,
  transaction_not_found: 404,

  already_exists: 409,
  approval_decided: 409,
  idempotency_key_reused: 409,

  internal_error: 500,
  network_unavailable: 500,
  plugin_failed: 500,
  request_timeout: 500,
  signer_unavailable: 500,

  database_unavailable: 503,
  plugin_unavailable: 503,

  plugin_timeout: 504,

  account_not_found: 400,
  account_taken: 400,
  already_accepted: 400,
  body_too_large: 400,
  chain_id_mismatch: 400,
  chain_not_reset: 400,
  execution_reverted: 400,
  fee_above_cap: 400,
  fee_payer_at_risk: 400,
  gas_limit_required: 400,
  gas_limit_too_high: 400,
  gas_limit_too_low: 400,
  gas_price_above_cap: 400,
  headers_too_large: 400,
  in_use: 400,
  insufficient_balance: 400,
  invalid_json: 400,
  invalid_request: 400,
  json_too_deep: 400,
  json_too_many_values: 400,
  not_supported: 400,
  policy_beyond_ceiling: 400,
  payment_required: 400,
  policy_violation: 400,
  price_unavailable: 400,
  receiver_not_whitelisted: 400,
  relayer_disabled: 400,
  relayer_has_transactions: 400,
  relayer_paused: 400,
  replacement_underpriced: 400,
  request_too_slow: 400,
  report_too_large: 400,
  rule_violated: 400,
  signer_refused: 400,
  transaction_not_included: 400,
  transaction_not_replaceable: 400,
  transaction_not_undecided: 400,
  unknown_network: 400,
  unsupported_content_type: 400,
  valid_until_in_past: 400,
  wrong_chain: 400,
  wrong_network_type: 400,
}

/** The methods of a path, and the guard of the paths outside the operations. */
interface OtherMethodOptions {
  readonly allowed: readonly string[]
  readonly guard: Guard
}

/**
 * Answers a method that the contract does not declare for an existing path. OPTIONS needs no credential: the
 * contract is public, and browsers send none with it.
 *
 * @throws AppError `method_not_allowed` for every other method, after the guard
 */
export function answerOtherMethod(context: HttpContext, { allowed, guard }: OtherMethodOptions): void {
  if (context.method === 'OPTIONS') {
    answerOptions(context, allowed)
    return
  }
  guard(context)
  throw methodNotAllowed(allowed)
}

/** Answers OPTIONS with the methods of the path. */
export function answerOptions(context: HttpContext, allowed: readonly string[]): void {
  context.status = 204
  context.set('Allow', allowed.join(', '))
}
