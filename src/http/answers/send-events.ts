import { Readable } from 'node:stream'
import { stringifyJson } from '../../contract/exact-integers.ts'
import type { StreamPiece } from '../../contract/operations.ts'
import type { HttpContext } from '../state.ts'

/**
 * Answers with server-sent events until the iterator ends. It takes the next pieces only when the connection has accepted the
 * previous ones, so a slow reader costs the memory of one group of pieces. The iterator ends when the reader disconnects.
 */
export function sendEvents(context: HttpContext, pieces: AsyncIterable<readonly StreamPiece[]>): void {
  context.status = 200
  context.set('Content-Type', 'text/event-stream; charset=utf-8')
  context.set('Cache-Control', 'no-store')
  // A connection that stays open after its stream would delay the shutdown of the service.
  context.set('Connection', 'close')
  // This header stops proxies from buffering events.
  context.set('X-Accel-Buffering', 'no')
  context.body = Readable.from(frames(pieces), { objectMode: true, highWaterMark: 1 })
}

async function* frames(pieces: AsyncIterable<readonly StreamPiece[]>): AsyncGenerator<string> {
  // Node sends the headers with the first bytes, and a reader needs to know at once that it is connected.
  yield ': open\n\n'
  for await (const group of pieces) yield group.map(toFrame).join('')
}

/** One `data` line holds the whole event, because JSON text has no line breaks. */
function toFrame(piece: StreamPiece): string {
  if (piece.kind === 'alive') return ': still here\n\n'
  return `id: ${piece.id}\nevent: ${piece.type}\ndata: ${stringifyJson(piece.data)}\n\n`
}
