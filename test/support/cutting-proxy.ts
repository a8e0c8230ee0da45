import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before a database server. */
export interface CuttingProxy {
  /** `host:port`. */
  readonly host: string
  /** The number of pieces that clients have sent since the last `cutAt`; node-postgres sends one for each statement. */
  readonly pieces: number
  /**
   * Ends every connection when the answer to the piece of this number begins, which no client gets to see: the server has done what it was told.
   * It happens once. A text counts only the pieces that contain it.
   */
  cutAt(piece: number, text?: string): void
  stop(): Promise<void>
}

/** Starts one before the server at `target`. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let pieces = 0
  let at: number | undefined
  let wanted = ''

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let cuts = false
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (chunk.includes(wanted)) pieces += 1
      if (pieces === at) {
        cuts = true
        at = undefined
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (cuts) for (const socket of sockets) socket.destroy()
      else client.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get pieces() {
      return pieces
    },
    cutAt(piece, text = '') {
      pieces = 0
      at = piece
      wanted = text
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
