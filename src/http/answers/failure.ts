import type { ContractOperation } from '../../contract/document.ts'
import type { Schemas } from '../../contract/operations.ts'
import { type AppError, internalError } from '../../errors.ts'
import { MethodNotAllowedError } from './method-not-allowed.ts'
import { type FailureStatus, STATUS_OF_CODE } from './status-of-code.ts'

/** `message` of the failure body: the five texts of the interface, and one for each status that it does not have. */
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
}

/** The answer to a request that failed. */
interface Failure {
  readonly status: FailureStatus
  readonly headers: Readonly<Record<string, string>>
  readonly body: Schemas['Failure']
}

/**
 * Gives the HTTP answer for an error: the status of its code, the headers of that status, and the failure body. An operation that has no 403
 * answers 401 instead, and one that has no 503 answers as to any other fault.
 */
export function toFailure(failure: AppError, operation?: ContractOperation): Failure {
  const isUndeclared = STATUS_OF_CODE[failure.code] === 503 && operation?.responses.has(503) === false
  const error = isUndeclared ? internalError(failure.cause) : failure
  const { code, detail } = error
  const usual = STATUS_OF_CODE[code]
  const status = usual === 403 && operation?.responses.has(403) === false ? 401 : usual
  const message = MESSAGES[status]
  return {
    status,
    headers: headersOf(error, status),
    body: { success: false, data: null, message, error: detail, code },
  }
}

function headersOf(error: AppError, status: FailureStatus): Record<string, string> {
  const { retryAfterSeconds } = error
  return {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    ...(error instanceof MethodNotAllowedError && { Allow: error.allowedMethods.join(', ') }),
  }
}
