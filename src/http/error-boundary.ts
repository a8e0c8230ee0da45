import type { Logger } from 'pino'
import { AppError, internalError } from '../errors.ts'
import { toFailure } from './failure.ts'
import { sendJson } from './send.ts'
import type { HttpContext, Middleware } from './state.ts'
import type { FailureStatus } from './status-of-code.ts'

/** The only place that answers failures. Whatever is thrown behind it becomes a failure body; faults are logged. */
export function errorBoundary({ log }: { log: Logger }): Middleware {
  return async function errorBoundary(context, next) {
    try {
      await next()
    } catch (error) {
      const failure = error instanceof AppError ? error : internalError(error)
      if (sendFailure(context, failure) === 500) logFault(log, context, failure)
    }
  }
}

/** Answers with the failure body and the headers that belong to it, and returns the HTTP status. */
export function sendFailure(context: HttpContext, error: AppError): FailureStatus {
  const { status, headers, body } = toFailure(error)
  context.state.failureCode = error.code
  context.set(headers)
  sendJson(context, status, body)
  return status
}

function logFault(log: Logger, context: HttpContext, failure: AppError): void {
  const { requestId, operation, transactionId } = context.state
  log.error(
    {
      err: failure.cause ?? failure,
      request_id: requestId,
      operation: operation?.id,
      transaction: transactionId,
    },
    'request failed',
  )
}
