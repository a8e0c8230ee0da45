import { connect, type Socket } from 'node:net'
import { limitConcurrency } from '../../../src/lib/concurrency/limit-concurrency.ts'
import { API_KEY } from '../../../test/support/service.ts'

/**
 * Connections that are opened at the same time: fewer than those of one address that may be without a valid
 * key.
 */
const AT_ONCE = 200

/** Begins the line with the number of an event: JSON text has no line breaks. */
const MARK = '\nid: '

/** Readers of the event stream, which only look at the numbers of the events. */
export interface StreamReaders {
  /** Resolves when each reader has so many events more than when it was opened. */
  received(count: number): Promise<void>
  /** The numbers that came out of order, or twice. */
  readonly disordered: number
  /** The number of the last event of each reader. */
  cursors(): readonly string[]
  close(): void
}

interface ReaderOptions {
  readonly port: number
  /** The secrets of the API keys, one for each reader. */
  readonly keys: readonly string[]
  /** The cursor of each reader. Default: the newest event. */
  readonly cursors?: readonly string[] | undefined
}

/** Opens a reader for each key, and waits until all streams are open. */
export async function openStreamReaders({ port, keys, cursors }: ReaderOptions): Promise<StreamReaders> {
  const limit = limitConcurrency(AT_ONCE)
  const readers = await Promise.all(
    keys.map((key, index) => limit(() => openReader({ port, key, after: cursors?.[index] }))),
  )
  return {
    received: async (count) => {
      await Promise.all(readers.map((reader) => reader.received(count)))
    },
    get disordered() {
      return readers.reduce((sum, { seen }) => sum + seen.disordered, 0)
    },
    cursors: () => readers.map(({ seen }) => String(seen.last)),
    close: () => {
      for (const { socket } of readers) socket.destroy()
    },
  }
}

interface Seen {
  last: bigint
  count: number
  disordered: number
}

interface Reader {
  readonly socket: Socket
  readonly seen: Seen
  received(count: number): Promise<void>
}

interface Opening {
  readonly port: number
  readonly key: string
  readonly after: string | undefined
}

function openReader({ port, key, after }: Opening): Promise<Reader> {
  const { promise, resolve, reject } = Promise.withResolvers<Reader>()
  const socket = connect(port, '127.0.0.1')
  const seen: Seen = { last: 0n, count: 0, disordered: 0 }
  let wanted: { readonly count: number; readonly resolve: () => void } | undefined
  let isOpen = false
  let rest = Buffer.alloc(0)
  const reader: Reader = {
    socket,
    seen,
    received: (count) => {
      const waiting = Promise.withResolvers<void>()
      wanted = { count, resolve: waiting.resolve }
      if (seen.count >= count) waiting.resolve()
      return waiting.promise
    },
  }
  socket.on('connect', () => {
    const head = ['GET /api/v1/events/stream HTTP/1.1', 'Host: bench', `Authorization: Bearer ${key}`]
    if (after !== undefined) head.push(`Last-Event-ID: ${after}`)
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
  })
  socket.on('error', reject)
  socket.on('data', (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (;;) {
      const start = bytes.indexOf(MARK, from)
      const end = start === -1 ? -1 : bytes.indexOf('\n', start + MARK.length)
      if (end === -1) {
        // A mark or a number may continue in the next chunk.
        rest = bytes.subarray(start === -1 ? Math.max(from, bytes.length - MARK.length) : start)
        break
      }
      note(BigInt(bytes.toString('latin1', start + MARK.length, end)))
      from = end
    }
    if (wanted !== undefined && seen.count >= wanted.count) wanted.resolve()
  })
  function note(number: bigint): void {
    // The first one is the beginning of the stream.
    if (isOpen) {
      seen.count += 1
      if (number <= seen.last) seen.disordered += 1
    }
    seen.last = number
    isOpen = true
    resolve(reader)
  }
  return promise
}

/** Creates API keys that may read events, and returns the secret of each one `streams` times. */
export async function createReaderKeys(
  url: string,
  { keys, streams }: { readonly keys: number; readonly streams: number },
): Promise<string[]> {
  const secrets: string[] = []
  for (let index = 0; index < keys; index += 1) {
    const response = await fetch(`${url}/api/v1/api-keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Reader ${index}`, scopes: ['events:read'] }),
    })
    const { data } = (await response.json()) as { data: { secret: string } }
    secrets.push(...Array<string>(streams).fill(data.secret))
  }
  return secrets
}
