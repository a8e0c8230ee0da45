import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AnswerTooLargeError } from './answer-too-large.ts'
import type { ByteBudget } from './byte-budget.ts'

/** A way to read the body of an answer. */
export interface BodyReader {
  /** Headers that ask for a body which `read` understands. */
  readonly headers: Readonly<Record<string, string>>
  /** Ends the connection when it rejects. */
  readonly read: (response: IncomingMessage, limits?: BodyLimits) => Promise<string>
}

/** The limits of one body that is read in full. */
export interface BodyLimits {
  /** The longest body, in bytes. The limit of the client counts as well. */
  readonly bytes: number
  /** Sees each part before the next one is read. Throws to stop the reading. */
  readonly inspect?: (chunk: Uint8Array) => void
}

/** The client reads this much of a body whose beginning is enough, in bytes: people look at it to find a fault. */
const BEGINNING_BYTES = 16_384

/** Stops reading at the limit, which closes the connection. The text must fit a database, which stores no NUL character. */
export const BEGINNING: BodyReader = {
  headers: {},
  // By events: an iterator would cost more than the rest of a request with an empty answer.
  read: (response) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const end = () => resolve(decodeBeginning(chunks))
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size < BEGINNING_BYTES) return
        end()
        response.destroy()
      })
      response.on('end', end)
      response.on('error', reject)
      // An error has a stack, which takes long to make, and `close` follows every answer.
      response.on('close', () => {
        if (!response.readableEnded) reject(new Error('the answer ended early'))
      })
    }),
}

function decodeBeginning(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return ''
  const bytes = Buffer.concat(chunks).subarray(0, BEGINNING_BYTES)
  return new TextDecoder().decode(bytes).replaceAll('\u0000', '\ufffd')
}

/** Accepts gzip, because nodes answer batches with megabytes of JSON. The limits count decompressed bytes. */
export function wholeBody(limit: number, budget?: ByteBudget): BodyReader {
  return {
    headers: { 'accept-encoding': 'gzip' },
    read: async (response, limits = { bytes: limit }) => {
      const chunks: Buffer[] = []
      const take = counter({ ...limits, bytes: Math.min(limit, limits.bytes) })
      // The caller parses the text in the same turn in which it gets it, so the share may end with the reading.
      const share = budget?.open()
      try {
        for await (const chunk of decompress(response) as AsyncIterable<Buffer>) {
          take(chunk)
          share?.take(chunk.length)
          chunks.push(chunk)
        }
        return new TextDecoder().decode(Buffer.concat(chunks))
      } finally {
        share?.close()
      }
    },
  }
}

function counter({ bytes, inspect }: BodyLimits): (chunk: Buffer) => void {
  let size = 0
  return (chunk) => {
    size += chunk.length
    if (size > bytes) throw new AnswerTooLargeError(`the answer has more than ${bytes} bytes`)
    inspect?.(chunk)
  }
}

function decompress(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The loop that reads the decompressed stream receives every error, so the callback has nothing to do.
  return pipeline(response, createGunzip(), () => {})
}
