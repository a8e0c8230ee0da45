import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer as Server } from 'ws'

/** A WebSocket server, for answers that a real node cannot be made to give. */
export interface WebSocketServer {
  readonly url: string
  /** The number of connections that were opened so far. */
  readonly connections: number
  /** Sends a text to everyone. */
  say(text: string): void
  /** Breaks every connection. */
  cut(): void
  stop(): Promise<void>
}

/** Starts it on a free port. `onText` receives each text of a client, with a way to answer. */
export async function startWebSocketServer(
  onText: (answer: (text: string) => void) => void = () => {},
): Promise<WebSocketServer> {
  let connections = 0
  const server = new Server({ host: '127.0.0.1', port: 0 })
  server.on('connection', (socket) => {
    connections += 1
    socket.on('message', () => onText((text) => socket.send(text)))
    socket.on('error', () => {})
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = () => {
    for (const socket of server.clients) socket.terminate()
  }
  return {
    url: `ws://127.0.0.1:${port}`,
    get connections() {
      return connections
    },
    say: (text) => {
      for (const socket of server.clients) socket.send(text)
    },
    cut,
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
