import type { ContractOperation } from '../../contract/document.ts'
import type { Streamed } from '../../contract/operations.ts'
import type { HttpContext } from '../state.ts'
import { type AnswerBudget, callerOf } from './answer-budget.ts'
import { type SuccessResult, successBody } from './envelope.ts'
import { sendJson, sendText } from './send.ts'
import { sendEvents } from './send-events.ts'

/** The result of a handler without the envelope. */
interface BareResult {
  readonly status: number
  readonly body: unknown
  readonly contentType?: string
  readonly repeatable?: boolean
}

/** Sends the result of a handler in the form that the contract declares for its operation. */
export function sendResult(
  context: HttpContext,
  { operation, answers }: { readonly operation: ContractOperation; readonly answers: AnswerBudget },
  result: unknown,
): void {
  switch (operation.successForm) {
    case 'envelope':
      sendEnvelope(context, operation, result as SuccessResult)
      break
    case 'stream':
      sendEvents(context, result as Streamed, answers.open(callerOf(context)))
      break
    case 'bare':
      sendBare(context, result as BareResult)
      break
  }
}

function sendEnvelope(context: HttpContext, operation: ContractOperation, result: SuccessResult): void {
  const { creates, successStatus } = operation
  if (creates !== undefined) {
    context.state.ids = { ...context.state.ids, [creates]: (result.data as { id: string }).id }
  }
  sendJson(context, successStatus, successBody(result))
}

function sendBare(context: HttpContext, { status, body, contentType, repeatable }: BareResult): void {
  if (repeatable !== undefined) context.state.repeatable = repeatable
  if (typeof body === 'string') sendText(context, status, body)
  else sendJson(context, status, body)
  if (contentType !== undefined) context.set('Content-Type', contentType)
}
