import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/** The time after which a slow receiver answers, in ms. */
const SLOW_MS = 2_000

const END_OF_HEAD = '\r\n\r\n'
const ANSWER = 'HTTP/1.1 204 No Content\r\n\r\n'

/** `dead`: nothing listens at its port. */
export type Kind = 'quick' | 'slow' | 'dead'

/** A receiver of webhooks that only counts them. */
export interface Counter {
  readonly url: string
  received(): number
  stop(): Promise<void>
}

/** Speaks just enough HTTP to find the end of a request: a complete server would cost as much as the service that is measured. */
export async function startCounter(kind: Kind): Promise<Counter> {
  const sockets = new Set<Socket>()
  let received = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    readRequests(socket, () => {
      received += 1
      if (kind === 'quick') socket.write(ANSWER)
      else setTimeout(() => socket.writable && socket.write(ANSWER), SLOW_MS)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  if (kind === 'dead') await stop()
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received: () => received,
    stop: kind === 'dead' ? async () => {} : stop,
  }
}

/** Calls `done` when a request is here with its whole body. */
function readRequests(socket: Socket, done: () => void): void {
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
    for (;;) {
      const head = text.indexOf(END_OF_HEAD)
      if (head < 0) return
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
      const end = head + END_OF_HEAD.length + length
      if (text.length < end) return
      text = text.slice(end)
      done()
    }
  })
}
