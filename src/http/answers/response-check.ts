import { Readable } from 'node:stream'
import type { Logger } from 'pino'
import { parseJson } from '../../contract/exact-integers.ts'
import type { ContractValidator } from '../../contract/validator.ts'
import { internalError } from '../../errors.ts'
import { type HttpContext, logFields } from '../state.ts'
import { sendFailure } from './error-boundary.ts'
import type { FinishingStep } from './finish-answer.ts'

/**
 * Checks the bytes of every answer of an operation against the contract. A mismatch is our fault: the log shows it, and the
 * caller receives 500 instead of an undeclared answer. Production leaves this check out, because it parses every answer again.
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
