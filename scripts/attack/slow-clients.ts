import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../test/support/random.ts'
import { API_KEY, type Service, startService } from '../../test/support/service.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'

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
function startSlowClients({ port, count, random }: SlowClientsOptions): SlowClients {
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

/** Fills the connections with slow and silent clients of many addresses, while a key holder calls. */
export const slowClients: Attack = { name: 'slow-clients', run }

/** The limit of the service, and the connections of the attacker, which are more. */
const MAX_CONNECTIONS = 48
const SLOW_CLIENTS = 96

/** Calls of the key holder, each on a connection of its own, and the longest that one may take, in ms. */
const CALLS = 30
const SLOWEST_MS = 4_000
const SLOW_CLIENTS_EVERY_MS = 80

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const service = await startService({
    rpcUrls: ['http://127.0.0.1:9'],
    env: { MAX_CONNECTIONS: String(MAX_CONNECTIONS), REQUEST_TIMEOUT_SECONDS: '5' },
  })
  const clients = startSlowClients({ port: Number(new URL(service.url).port), count: SLOW_CLIENTS, random })
  try {
    let slowest = 0
    for (let index = 0; index < CALLS; index += 1) {
      slowest = Math.max(slowest, await call(tally, service))
      await pause(SLOW_CLIENTS_EVERY_MS)
    }
    // As many as fit would have to be closed by the service to let others in.
    tally.check(
      clients.opened() > SLOW_CLIENTS,
      () => `only ${clients.opened()} slow connections were opened`,
    )
    tally.note(
      `${clients.opened()} slow connections; the slowest of ${CALLS} calls took ${Math.round(slowest)} ms`,
    )
  } finally {
    clients.stop()
    await service.stop()
  }
  return tally.report()
}

async function call(tally: Tally, { url }: Service): Promise<number> {
  const started = performance.now()
  const status = await ask(url)
  const ms = performance.now() - started
  tally.check(
    status === 200 && ms < SLOWEST_MS,
    () => `a key holder was answered ${status} after ${Math.round(ms)} ms`,
  )
  return ms
}

/** Returns the status, or the reason for which there is none. */
async function ask(url: string): Promise<number | string> {
  try {
    const headers = { authorization: `Bearer ${API_KEY}`, connection: 'close' }
    const answer = await fetch(`${url}/api/v1/relayers`, {
      headers,
      signal: AbortSignal.timeout(2 * SLOWEST_MS),
    })
    await answer.text()
    return answer.status
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}
