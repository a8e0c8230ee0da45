import { Readable } from 'node:stream'
import { stringifyJson } from '../contract/integers.ts'
import type { StreamPiece } from '../contract/operations.ts'
import type { HttpContext } from './state.ts'

/**
 * Answers with server-sent events for as long as there are any. The next pieces are asked for when the connection has taken
 * those before, so a reader that is slow costs what is asked for at a time; the iterator is ended when the reader has gone.
 */
export function sendEvents(context: HttpContext, pieces: AsyncIterable<readonly StreamPiece[]>): void {
  context.status = 200
  context.set('Content-Type', 'text/event-stream; charset=utf-8')
  context.set('Cache-Control', 'no-store')
  // One that is kept alive after a stream has ended would hold up the end of the service.
  context.set('Connection', 'close')
  // Proxies that collect answers would hold events back.
  context.set('X-Accel-Buffering', 'no')
  context.body = Readable.from(frames(pieces), { objectMode: true, highWaterMark: 1 })
}

async function* frames(pieces: AsyncIterable<readonly StreamPiece[]>): AsyncGenerator<string> {
  // Headers leave with the first bytes, and a reader wants to know at once that it is connected.
  yield ': open\n\n'
  for await (const group of pieces) yield group.map(toFrame).join('')
}

/** JSON has no line breaks, so one `data` line holds all of it. */
function toFrame(piece: StreamPiece): string {
  if (piece.kind === 'alive') return ': still here\n\n'
  return `id: ${piece.id}\nevent: ${piece.type}\ndata: ${stringifyJson(piece.data)}\n\n`
}
