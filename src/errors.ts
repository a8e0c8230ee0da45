import type { ErrorCode } from './contract/operations.ts'

/** What `message` of a failure body can carry: the five texts of the interface, and those of answers that it does not have. */
const MESSAGES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
} as const

export type FailureStatus = keyof typeof MESSAGES

interface AppErrorOptions {
  status: FailureStatus
  code: ErrorCode
  /** A sentence for the caller: which field, what was expected, what to do next. It leaves the process. */
  detail: string
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * A failure that the service knows. `detail` is written for the caller; `cause` stays inside. Anything else that is
 * thrown is a fault and answers 500 without a word about its inside.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly status: FailureStatus
  readonly code: ErrorCode
  readonly detail: string
  readonly headers: Record<string, string>

  constructor({ status, code, detail, headers = {}, cause }: AppErrorOptions) {
    super(detail, { cause })
    this.status = status
    this.code = code
    this.detail = detail
    this.headers = headers
  }

  /** The `message` of the failure body: a fixed text for each HTTP status. */
  get publicMessage(): string {
    return MESSAGES[this.status]
  }
}

/** 400: the request cannot be served as it is; nothing was changed. */
export function badRequest(code: ErrorCode, detail: string, cause?: unknown): AppError {
  return new AppError({ status: 400, code, detail, cause })
}

/** 401: no acceptable credential. */
export function unauthorized(detail: string): AppError {
  return new AppError({
    status: 401,
    code: 'unauthorized',
    detail,
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

/** 404: no such thing within the scope of the path. */
export function notFound(code: ErrorCode, detail: string): AppError {
  return new AppError({ status: 404, code, detail })
}

/** 405 with the methods that the path does have. */
export function methodNotAllowed(allow: readonly string[]): AppError {
  const methods = allow.join(', ')
  return new AppError({
    status: 405,
    code: 'method_not_allowed',
    detail: `This path answers ${methods}.`,
    headers: { Allow: methods },
  })
}

/** 409: the request contradicts what is there; nothing was changed. */
export function conflict(code: ErrorCode, detail: string): AppError {
  return new AppError({ status: 409, code, detail })
}

/** 429: `retryAfterSeconds` is a whole number of seconds. */
export function tooManyRequests(retryAfterSeconds: number): AppError {
  return new AppError({
    status: 429,
    code: 'rate_limited',
    detail: `Too many requests. Try again in ${retryAfterSeconds} s.`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

/** 500: says nothing about the inside; the request id leads to the log line that does. */
export function internalError(cause: unknown): AppError {
  return new AppError({
    status: 500,
    code: 'internal_error',
    detail: 'Something went wrong on our side. The X-Request-Id header names the log entry.',
    cause,
  })
}
