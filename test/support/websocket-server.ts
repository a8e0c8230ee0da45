import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/** A bare WebSocket server (RFC 6455), for answers that a real node cannot be made to give. Texts below 126 bytes. */
export interface WebSocketServer {
  readonly url: string
  /** The number of connections that were opened so far. */
  readonly connections: number
  /** Sends a text to everybody. */
  say(text: string): void
  /** Breaks every connection. */
  cut(): void
  stop(): Promise<void>
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const FINAL_TEXT = 0x81

/** Starts it on a free port. `onText` receives each text of a client, with a way to answer. */
export async function startWebSocketServer(
  onText: (answer: (text: string) => void) => void = () => {},
): Promise<WebSocketServer> {
  const sockets = new Set<Duplex>()
  let connections = 0
  const server = createServer()
  server.on('upgrade', (request, socket: Duplex) => {
    connections += 1
    sockets.add(socket)
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}${MAGIC}`).digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    )
    socket.on('data', (bytes: Buffer) => {
      if (bytes[0] === FINAL_TEXT) onText((text) => socket.write(frame(text)))
    })
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `ws://127.0.0.1:${port}`,
    get connections() {
      return connections
    },
    say: (text) => {
      for (const socket of sockets) socket.write(frame(text))
    },
    cut,
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([Buffer.from([FINAL_TEXT, payload.length]), payload])
}
