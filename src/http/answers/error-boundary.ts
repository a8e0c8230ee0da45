import { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { parseJson } from '../../contract/exact-integers.ts'
import type { ContractValidator } from '../../contract/validator.ts'
import { AppError, internalError } from '../../errors.ts'
import { type HttpContext, logFields, type Middleware } from '../state.ts'
import { type FailureStatus, toFailure } from './failure.ts'
import { type FinishingStep, sendJson } from './send.ts'

interface BoundaryDeps {
  readonly log: Logger
  /**
   * Returns the failure to report to the caller for a fault outside this process; undefined for any other.
   */
  readonly explainFault: (fault: unknown) => AppError | undefined
}

/**
 * Turns every error of the middleware behind it into a failure body. It logs the errors that are our fault.
 */
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

/**
 * Checks the bytes of every answer of an operation against the contract. A mismatch is our fault: the log
 * shows it, and the caller receives 500 instead of an undeclared answer. Production leaves this check out,
 * because it parses every answer again.
 */
export function responseCheck({
  validator,
  log,
}: {
  validator: ContractValidator
  log: Logger
}): FinishingStep {
  return function responseCheck(context) {
    const { operation } = context.state
    if (operation === undefined || context.method === 'OPTIONS') return
    const mismatch = validator.response(operation.id, answerOf(context))
    if (mismatch === undefined) return
    log.error({ ...logFields(context), status: context.status, mismatch }, 'answer contradicts the contract')
    sendFailure(context, internalError(new Error(mismatch)))
  }
}

function answerOf(context: HttpContext) {
  const { status, type: mediaType } = context
  if (context.body instanceof Readable) return { status, mediaType, body: undefined, streamed: true }
  const body = typeof context.body === 'string' ? context.body : undefined
  const json = mediaType === 'application/json' && body !== undefined
  return { status, mediaType, body: json ? parseJson(body, { maxDepth: 64 }) : body }
}
