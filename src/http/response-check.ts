import { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { parseJson } from '../contract/integers.ts'
import type { ContractValidator } from '../contract/validator.ts'
import { internalError } from '../errors.ts'
import { sendFailure } from './error-boundary.ts'
import type { HttpContext, Middleware } from './state.ts'

/**
 * Holds every answer of an operation against the contract, as the bytes that leave. A mismatch is a fault of ours: it is
 * logged, and the caller gets 500 instead of an answer that the contract does not know. For tests and development.
 */
export function responseCheck({ validator, log }: { validator: ContractValidator; log: Logger }): Middleware {
  return async function responseCheck(context, next) {
    await next()
    const { operation, requestId } = context.state
    if (operation === undefined || context.method === 'OPTIONS') return
    const mismatch = validator.response(operation.id, answerOf(context))
    if (mismatch === undefined) return
    log.error(
      {
        request_id: requestId,
        operation: operation.id,
        transaction: context.state.transactionId,
        status: context.status,
        mismatch,
      },
      'answer does not fit the contract',
    )
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
