import type { Logger } from 'pino'
import { AppError, internalError } from '../errors.ts'
import { failureBody } from './envelope.ts'
import { sendJson } from './send.ts'
import type { HttpContext, Middleware } from './state.ts'

/** The only place that answers failures. Whatever is thrown behind it becomes a failure body; faults are logged. */
export function errorBoundary({ log }: { log: Logger }): Middleware {
  return async function errorBoundary(context, next) {
    try {
      await next()
    } catch (error) {
      const failure = error instanceof AppError ? error : internalError(error)
      if (failure.status === 500) logFault(log, context, failure)
      sendFailure(context, failure)
    }
  }
}

/** Answers with the failure body and the headers that belong to it. */
export function sendFailure(context: HttpContext, failure: AppError): void {
  context.state.failureCode = failure.code
  context.set(failure.headers)
  sendJson(context, failure.status, failureBody(failure))
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
