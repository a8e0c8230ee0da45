import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on every address of this machine that counts its connections. */
export interface HitCounter {
  readonly port: number
  hits(): number
  stop(): Promise<void>
}

interface HitCounterOptions {
  /** Default 204. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Starts one on a free port. */
export async function startHitCounter({
  status = 204,
  headers = {},
}: HitCounterOptions = {}): Promise<HitCounter> {
  let hits = 0
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, headers).end()
  })
  server.on('connection', () => {
    hits += 1
  })
  server.listen(0)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    hits: () => hits,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
