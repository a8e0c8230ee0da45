import type { Logger } from 'pino'
import { AppError, internalError } from '../../errors.ts'
import { type HttpContext, logFields, type Middleware } from '../state.ts'
import { toFailure } from './failure.ts'
import { sendJson } from './send.ts'
import type { FailureStatus } from './status-of-code.ts'

interface BoundaryDeps {
  readonly log: Logger
  /** Gives the failure that the caller is told of, for a fault of something outside this process; undefined for any other. */
  readonly explainFault: (fault: unknown) => AppError | undefined
}

/** Turns every error of the middleware behind it into a failure body. It logs the errors that are our fault. */
export function errorBoundary({ log, explainFault }: BoundaryDeps): Middleware {
  return async function errorBoundary(context, next) {
    try {
      await next()
    } catch (error) {
      const failure = error instanceof AppError ? error : (explainFault(error) ?? internalError(error))
      if (sendFailure(context, failure) >= 500) logFault(log, context, failure)
    }
  }
}

/** Answers with the failure body and the headers that belong to it, and returns the HTTP status. */
export function sendFailure(context: HttpContext, error: AppError): FailureStatus {
  const { status, headers, body } = toFailure(error, context.state.operation)
  context.state.failureCode = body.code
  context.set(headers)
  sendJson(context, status, body)
  return status
}

function logFault(log: Logger, context: HttpContext, failure: AppError): void {
  log.error({ err: failure.cause ?? failure, ...logFields(context) }, 'request failed')
}
