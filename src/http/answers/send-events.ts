import { Readable } from 'node:stream'
import { stringifyJson } from '../../contract/exact-integers.ts'
import type { Streamed, StreamPiece } from '../../contract/operations.ts'
import type { HttpContext } from '../state.ts'

/**
 * Answers with server-sent events until the iterator ends. It takes the next pieces only when the connection has accepted the
 * previous ones, so a slow reader costs the memory of one group of pieces. The iterator ends when the reader disconnects.
 */
export function sendEvents(context: HttpContext, streamed: Streamed): void {
  context.status = 200
  context.set('Content-Type', 'text/event-stream; charset=utf-8')
  context.set('Cache-Control', 'no-store')
  // A connection that stays open after its stream would delay the shutdown of the service.
  context.set('Connection', 'close')
  // This header stops proxies from buffering events.
  context.set('X-Accel-Buffering', 'no')
  context.body = Readable.from(frames(streamed), { objectMode: true, highWaterMark: 1 })
}

async function* frames({ after, stream }: Streamed): AsyncGenerator<string> {
  // Node sends the headers with the first bytes, and a reader needs to know at once that it is connected. An id without data is no event:
  // readers only remember it, and send it as Last-Event-ID when they come back.
  yield `: open\nid: ${after}\n\n`
  for await (const group of stream) yield group.map(toFrame).join('')
}

/** One `data` line holds the whole event, because JSON text has no line breaks. */
function toFrame(piece: StreamPiece): string {
  if (piece.kind === 'alive') return ': still here\n\n'
  return `id: ${piece.id}\nevent: ${piece.type}\ndata: ${stringifyJson(piece.data)}\n\n`
}
