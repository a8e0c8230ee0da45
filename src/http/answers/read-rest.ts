import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { HttpContext } from '../state.ts'
import type { FinishingStep } from './finish-answer.ts'

/** The most bytes of a refused body that the server reads, and throws away. */
const MOST_BYTES = 16_777_216

/** A sender that pauses for this long, in ms, has seen the answer and sends no more. */
const PAUSE_MS = 2_000

/** Chunk headers and what Node has buffered come on top of the body. */
const SLACK_BYTES = 1_048_576

/**
 * Reads the rest of a request that was answered before its body had arrived, such as one that is too large. Many callers send everything
 * before they read: closing the connection would reset it, and they would never see the answer. The answer itself does not wait.
 */
export function readRest({ timeoutMs }: { timeoutMs: number }): FinishingStep {
  return function readRest(context) {
    const { req } = context
    if (req.complete) return
    const { body } = context
    if (typeof body !== 'string' || context.method === 'HEAD') return
    if (context.state.failureCode === 'request_too_slow') context.set('Connection', 'close')
    else sendThenRead(context, body, timeoutMs)
  }
}

function sendThenRead(context: HttpContext, body: string, timeoutMs: number): void {
  const { req } = context
  context.body = Readable.from(pieces())
  // The length tells the caller that the answer is complete while the server is still reading.
  context.length = Buffer.byteLength(body)

  async function* pieces(): AsyncGenerator<string> {
    yield body
    if (!(await readToEnd(req, timeoutMs))) req.socket.destroySoon()
  }
}

/** Returns false when the request has too many bytes, takes too long, pauses or breaks off. */
async function readToEnd(request: IncomingMessage, timeoutMs: number): Promise<boolean> {
  if (request.complete) return true
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), timeoutMs)
  const pause = setTimeout(() => resolve(false), PAUSE_MS)
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    pause.refresh()
    bytes += chunk.length
    if (bytes > MOST_BYTES + SLACK_BYTES) resolve(false)
  })
  request.once('end', () => resolve(true))
  request.once('close', () => resolve(request.complete))
  request.resume()
  const whole = await promise
  clearTimeout(timer)
  clearTimeout(pause)
  return whole
}
