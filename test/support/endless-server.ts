import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that writes each answer for as long as someone reads it, up to 64 MiB. */
export interface EndlessServer {
  readonly url: string
  /** The bytes of each answer that were handed to the socket, in the order of the requests. Buffers hold a few MiB of them. */
  readonly written: readonly number[]
  stop(): Promise<void>
}

const MOST_BYTES = 64 * 1024 * 1024
const BLOCK_BYTES = 65_536

/** Starts it on a free port. Its answers are `begin`, and then `part` again and again. */
export async function startEndlessServer(begin: string, part: string): Promise<EndlessServer> {
  const block = Buffer.from(part.repeat(Math.ceil(BLOCK_BYTES / part.length)))
  const written: number[] = []

  function write(response: ServerResponse, index: number): void {
    while (!response.destroyed && (written[index] ?? 0) < MOST_BYTES) {
      written[index] = (written[index] ?? 0) + block.length
      if (!response.write(block)) return void response.once('drain', () => write(response, index))
    }
    response.end()
  }

  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(begin)
      write(response, written.push(0) - 1)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    written,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
