import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { stringifyJson } from '../../contract/exact-integers.ts'
import type { HttpContext, Middleware } from '../state.ts'

/** Answers with JSON and exact integers. `no-store` keeps caches from answering for the API. */
export function sendJson(context: HttpContext, status: number, body: unknown): void {
  context.status = status
  context.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  context.res.setHeader('Cache-Control', 'no-store')
  context.body = stringifyJson(body)
}

/** Answers with plain text. */
export function sendText(context: HttpContext, status: number, body: string): void {
  context.status = status
  context.set('Content-Type', 'text/plain; charset=utf-8')
  context.set('Cache-Control', 'no-store')
  context.body = body
}

/** A last change to an answer before it is sent. */
export type FinishingStep = (context: HttpContext) => void

/**
 * Makes the last changes to each answer, in the order of the list. One middleware for all of them, because
 * each one that waits for the next costs promises, and none of these steps waits for anything else.
 */
export function finishAnswer(steps: readonly FinishingStep[]): Middleware {
  return async function finishAnswer(context, next) {
    await next()
    for (const step of steps) step(context)
  }
}

/** The most bytes of a refused body that the server reads, and throws away. */
const MOST_BYTES = 16_777_216

/** A sender that pauses for this long, in ms, has seen the answer and sends no more. */
const PAUSE_MS = 2_000

/** Chunk headers and what Node has buffered come on top of the body. */
const SLACK_BYTES = 1_048_576

/**
 * Drains a request that was answered before its body had arrived, such as one that is too large. Many callers
 * send everything before they read: closing the connection would reset it, and they would never see the
 * response. The response itself does not wait.
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
  // The length shows the caller that the response is complete while the server is still reading.
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

interface Range {
  readonly type: string
  /** The weight from 0 to 1; 0 excludes the type. */
  readonly weight: number
}

/**
 * Returns the offered media type that an `Accept` header prefers (RFC 9110): the one with the highest weight;
 * among equals, the one that the header names first; and the first offered one if the header names none of
 * them. Such a header is answered as well.
 */
export function preferredType(accept: string, offered: readonly string[]): string {
  const [first = ''] = offered
  if (offered.length < 2 || accept === '') return first
  const ranges = accept.split(',').map(readRange)
  const ranked = offered
    .map((type) => ({ type, ...rankOf(type, ranges) }))
    .sort((one, other) => other.weight - one.weight || one.rank - other.rank)
  return ranked[0]?.type ?? first
}

/**
 * An exact name counts before a wildcard; a wildcard has no position, so it keeps the offered order after
 * exact names.
 */
function rankOf(type: string, ranges: readonly Range[]): { weight: number; rank: number } {
  const exact = ranges.findIndex((range) => range.type === type)
  if (exact >= 0) return { weight: ranges[exact]?.weight ?? 0, rank: exact }
  const [family] = type.split('/')
  const wildcard =
    ranges.find((range) => range.type === `${family}/*`) ?? ranges.find((range) => range.type === '*/*')
  return { weight: wildcard?.weight ?? 0, rank: ranges.length }
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((part) => part.startsWith('q='))?.slice(2)
  const value = weight === undefined ? 1 : Number(weight)
  return { type, weight: value >= 0 && value <= 1 ? value : 0 }
}
