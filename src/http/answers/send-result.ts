import { Readable } from 'node:stream'
import { KEYS_OF_PLUGINS } from '../../access/api-key.ts'
import type { ContractOperation } from '../../contract/document.ts'
import { stringifyJson } from '../../contract/exact-integers.ts'
import type { LatePieces, Pagination, Streamed, StreamPiece } from '../../contract/operations.ts'
import { READ_ONLY_HEADER } from '../handler.ts'
import type { HttpContext } from '../state.ts'
import { type AnswerBudget, type AnswerShare, callerOf } from './answer-budget.ts'
import { sendJson, sendText } from './send.ts'

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
      sendBare(context, result as BareResult, answers)
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

function sendBare(
  context: HttpContext,
  { status, body, contentType, repeatable }: BareResult,
  answers: AnswerBudget,
): void {
  if (repeatable !== undefined) context.state.repeatable = repeatable
  const isForPlugin = context.state.apiKeyId?.startsWith(KEYS_OF_PLUGINS) === true
  if (repeatable === true && isForPlugin) context.set(READ_ONLY_HEADER, 'true')
  if (typeof body === 'string') sendText(context, status, body)
  else if (isInParts(body)) sendParts(context, body, answers)
  else sendJson(context, status, body)
  if (contentType !== undefined) context.set('Content-Type', contentType)
}

function isInParts(body: unknown): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/**
 * Answers with a text of any length, of which a slow reader costs the memory of one part. Parts are made in
 * turn among the lists of the same caller. If one fails, the connection breaks, so that the caller does not
 * take the beginning for the whole.
 */
function sendParts(context: HttpContext, body: AsyncIterable<string>, answers: AnswerBudget): void {
  const caller = callerOf(context)
  const share = answers.open(caller)
  context.status = 200
  context.set('Cache-Control', 'no-store')
  // As for a stream of events.
  context.set('Connection', 'close')
  context.body = readOneByOne(partsOf(body, { answers, caller, share }), share.close)
}

interface PartsReader {
  readonly answers: AnswerBudget
  readonly caller: string
  readonly share: AnswerShare
}

async function* partsOf(
  body: AsyncIterable<string>,
  { answers, caller, share }: PartsReader,
): AsyncGenerator<Buffer, void> {
  const parts = body[Symbol.asyncIterator]()
  for (;;) {
    const part = await answers.make(caller, () => parts.next())
    if (part.done === true) return
    const bytes = Buffer.from(part.value)
    share.hold(bytes.length)
    yield bytes
    share.release()
  }
}

/** The result of a handler, before the envelope. */
interface SuccessResult {
  readonly data: unknown
  readonly pagination?: Pagination
  readonly logs?: readonly string[]
}

/** Puts the envelope around a result. `metadata` exists only when the handler has logs. */
function successBody({ data, pagination, logs = [] }: SuccessResult): object {
  return {
    success: true,
    data,
    ...(pagination && { pagination }),
    ...(logs.length > 0 && {
      metadata: { logs: logs.map((message) => ({ level: 'log', message })), traces: [] },
    }),
  }
}

/**
 * Answers with server-sent events until the iterator ends. It takes the next pieces only when the connection
 * has accepted the previous ones, so a slow reader costs the memory of one group of pieces, and all readers
 * of a caller together not more than its budget: a page is read when there is room for it. The iterator ends
 * when the reader disconnects.
 */
export function sendEvents(context: HttpContext, streamed: Streamed, share: AnswerShare): void {
  context.status = 200
  context.set('Content-Type', 'text/event-stream; charset=utf-8')
  context.set('Cache-Control', 'no-store')
  // A connection that stays open after its stream would delay the shutdown of the service.
  context.set('Connection', 'close')
  // This header stops proxies from buffering events.
  context.set('X-Accel-Buffering', 'no')
  // Koa destroys it when the reader has left.
  context.body = readOneByOne(frames(streamed, share), share.close)
}

/**
 * Reads a text when the connection has taken the previous one. `Readable.from` reads one ahead, regardless of
 * its high-water mark: another page of memory for each slow reader.
 */
function readOneByOne(texts: AsyncGenerator<Buffer, void>, onEnd: () => void): Readable {
  return new Readable({
    objectMode: true,
    highWaterMark: 0,
    read() {
      texts.next().then(
        ({ value }) => this.push(value ?? null),
        (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
      )
    },
    destroy(error, done) {
      onEnd()
      texts.return().then(
        () => done(error),
        () => done(error),
      )
    },
  })
}

async function* frames({ after, stream }: Streamed, share: AnswerShare): AsyncGenerator<Buffer, void> {
  // Node sends the headers with the first bytes, and a reader needs to know immediately that it is connected.
  // An id without data is not an event: readers only remember it, and send it as Last-Event-ID when they
  // reconnect.
  yield Buffer.from(`: open\nid: ${after}\n\n`)
  for await (const group of stream) {
    if (!('read' in group)) yield bytesOf(group)
    else if (await share.wait(group.bytes)) {
      // No variable holds the bytes, which would keep them alive after they were read.
      yield await counted(share, group)
      share.release()
    } else return
  }
}

async function counted(share: AnswerShare, group: LatePieces): Promise<Buffer> {
  const bytes = bytesOf(await group.read())
  share.release()
  share.hold(bytes.length)
  return bytes
}

/** The bytes of groups that several streams have in common, for as long as one of them sends them. */
const known = new WeakMap<readonly StreamPiece[], WeakRef<Buffer>>()

function bytesOf(group: readonly StreamPiece[]): Buffer {
  const shared = known.get(group)?.deref()
  if (shared !== undefined) return shared
  const bytes = Buffer.from(group.map(toFrame).join(''))
  known.set(group, new WeakRef(bytes))
  return bytes
}

/** One `data` line holds the whole event, because JSON text has no line breaks. */
function toFrame(piece: StreamPiece): string {
  if (piece.kind === 'alive') return ': still here\n\n'
  return `id: ${piece.id}\nevent: ${piece.type}\ndata: ${stringifyJson(piece.data)}\n\n`
}
