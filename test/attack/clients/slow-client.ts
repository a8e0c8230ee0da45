import { connect, type Socket } from 'node:net'
import type { Random } from '../../faults/random.ts'

/** Connections of unauthenticated callers that take as long as they may, and are opened again when they are closed. */
export interface SlowClients {
  /** The number of connections that were opened so far. */
  opened(): number
  stop(): void
}

interface SlowClientsOptions {
  readonly port: number
  /** The connections that are open at a time. */
  readonly count: number
  readonly random: Random
}

const HEAD = 'POST /api/v1/relayers/main/sign HTTP/1.1\r\nHost: x\r\n'
const GET = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n'

/** Adds something to a request without an end, in the same rhythm. */
type Manner = (socket: Socket) => void

const EVERY_MS = 100

const drip =
  (begin: string, part: string): Manner =>
  (socket) => {
    socket.write(begin)
    const timer = setInterval(() => socket.write(part), EVERY_MS)
    socket.on('close', () => clearInterval(timer))
  }

const MANNERS: readonly Manner[] = [
  () => {},
  drip(HEAD, 'X-A: b\r\n'),
  drip('G', 'E'),
  drip(`${HEAD}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`, ' '),
  drip(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'),
  drip(`${HEAD}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`, ''),
  // It asks and never reads.
  (socket) => void socket.pause().write(GET.repeat(200)),
  // It has an answer and stays.
  (socket) => void socket.write(GET),
  // It closes its half.
  (socket) => void socket.end(HEAD),
  // It is gone in the middle of its request.
  (socket) => void socket.write(HEAD, () => setTimeout(() => socket.resetAndDestroy(), EVERY_MS)),
]

/** Opens them from addresses of 127.0.0.0/8, so that no limit of one address is enough. */
export function startSlowClients({ port, count, random }: SlowClientsOptions): SlowClients {
  const sockets = new Set<Socket>()
  let isRunning = true
  let opened = 0

  function open(): void {
    if (!isRunning) return
    const localAddress = `127.0.${random.int(1, 250)}.${random.int(1, 250)}`
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
    opened += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('connect', () => {
      socket.resume()
      random.pick(MANNERS)(socket)
    })
    socket.on('close', () => {
      sockets.delete(socket)
      setTimeout(open, EVERY_MS)
    })
  }

  for (let index = 0; index < count; index += 1) open()
  return {
    opened: () => opened,
    stop: () => {
      isRunning = false
      for (const socket of sockets) socket.destroy()
    },
  }
}
