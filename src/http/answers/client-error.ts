import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { AppError } from '../../errors.ts'
import { toFailure } from './failure.ts'

/**
 * Answers bytes that Node cannot read as an HTTP request. Koa never sees them, so this function writes the answer to the
 * socket; the body is that of any other failure.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, log: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const failure = toFailure(failureOf(error.code))
  log.info({ request_id: requestId, code: failure.body.code, reason: error.code }, 'request unreadable')
  const body = JSON.stringify(failure.body)
  const head = [
    `HTTP/1.1 ${failure.status} ${failure.body.message}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function failureOf(code: string | undefined): AppError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new AppError('headers_too_large', 'The request has too many header bytes.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_too_slow', 'The request did not arrive completely in time.')
  }
  return new AppError('invalid_request', 'This is not a well-formed HTTP request.')
}
