import { once } from 'node:events'
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before the service that fails when it is told to. */
export interface UnreliableProxy {
  readonly url: string
  /** The requests that it passed on, as `POST /path`. */
  readonly passed: readonly string[]
  /** Passes the next request on, and closes the connection instead of answering it. */
  loseNextAnswer(): void
  /** The streams of which it has passed on the beginning. */
  readonly streams: ReadonlySet<unknown>
  /** Closes the connections of all of them. */
  cutStreams(): void
  /** Closes the connection of each further stream after this many bytes; undefined: of none. */
  limitStreams(bytes: number | undefined): void
  /** Keeps what streams say, as proxies do that collect whole answers. */
  bufferStreams(): void
  /** Passes each further request on after this; it is told how many of them came before. */
  holdRequests(until: (before: number) => Promise<void>): void
  stop(): Promise<void>
}

/** Starts one before the service at `target`. */
export async function startUnreliableProxy(target: string): Promise<UnreliableProxy> {
  const passed: string[] = []
  const streams = new Set<ServerResponse>()
  let loses = false
  let buffers = false
  let limit: number | undefined
  let hold: ((before: number) => Promise<void>) | undefined
  let held = 0

  async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    held += 1
    await hold?.(held - 1)
    forward(incoming, outgoing)
  }

  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url = '', headers } = incoming
    const lost = loses
    loses = false
    passed.push(`${method} ${url.split('?')[0]}`)
    const upstream = openRequest(target + url, { method, headers }, (answer) => {
      const isStream = answer.headers['content-type']?.startsWith('text/event-stream')
      if (lost) answer.resume().once('end', () => outgoing.destroy())
      else if (isStream && buffers) answer.resume()
      else {
        if (isStream) answer.once('data', () => streams.add(outgoing))
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        if (isStream && limit !== undefined) passUpTo(limit, answer, outgoing)
        else answer.pipe(outgoing)
      }
    })
    // Whichever side goes first takes the other one with it.
    upstream.once('error', () => outgoing.destroy())
    outgoing.once('close', () => {
      streams.delete(outgoing)
      upstream.destroy()
    })
    incoming.pipe(upstream)
  }

  const server = createServer(receive).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    streams,
    loseNextAnswer: () => {
      loses = true
    },
    cutStreams: () => {
      for (const stream of streams) stream.destroy()
    },
    limitStreams: (bytes) => {
      limit = bytes
    },
    bufferStreams: () => {
      buffers = true
    },
    holdRequests: (until) => {
      held = 0
      hold = until
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function passUpTo(limit: number, answer: IncomingMessage, outgoing: ServerResponse): void {
  let passed = 0
  answer.on('data', (chunk: Buffer) => {
    outgoing.write(chunk.subarray(0, limit - passed))
    passed += chunk.length
    if (passed >= limit) outgoing.end(() => outgoing.destroy())
  })
}
