import { expect, test } from 'vitest'
import { loadContract, type Node } from '../../../src/contract/document.ts'
import { AppError, type ErrorCode, internalError } from '../../../src/errors.ts'
import { MethodNotAllowedError, STATUS_OF_CODE, toFailure } from '../../../src/http/answers/failure.ts'

const { document } = await loadContract()

/** The contract describes each code in one row of a table. The description begins with the status, unless that is 400. */
function describedStatuses(): Record<string, number> {
  const { schemas } = document.components as { schemas: { ErrorCode: Node } }
  const rows = String(schemas.ErrorCode.description).matchAll(/^\| `(\w+)` \| (?:(\d{3})\. )?/gm)
  return Object.fromEntries([...rows].map(([, code, status]) => [code, Number(status ?? 400)]))
}

test('each code has the status that the contract describes', () => {
  expect(STATUS_OF_CODE).toEqual(describedStatuses())
})

const HEADERS: [AppError, Record<string, string>][] = [
  [new AppError('unauthorized', 'Send a key.'), { 'WWW-Authenticate': 'Bearer' }],
  [new AppError('rate_limited', 'Wait.', { retryAfterSeconds: 3 }), { 'Retry-After': '3' }],
  [new MethodNotAllowedError(['GET', 'HEAD']), { Allow: 'GET, HEAD' }],
  [new AppError('relayer_paused', 'It is paused.'), {}],
]

test.each(HEADERS)('%s has its headers', (error, headers) => {
  expect(toFailure(error).headers).toEqual(headers)
})

const MESSAGES: [ErrorCode, string][] = [
  ['invalid_request', 'Bad Request'],
  ['unauthorized', 'Unauthorized'],
  ['transaction_not_found', 'Not found'],
  ['rate_limited', 'Too Many Requests'],
  ['network_unavailable', 'Internal Server Error'],
]

test.each(MESSAGES)('the body of %s has the message of the interface: %s', (code, message) => {
  const { body } = toFailure(new AppError(code, 'A sentence.'))
  expect(body).toEqual({ success: false, data: null, message, error: 'A sentence.', code })
})

test('an internal error keeps its cause to itself', () => {
  const { body } = toFailure(internalError(new Error('the password is hunter2')))
  expect(JSON.stringify(body)).not.toContain('hunter2')
})
