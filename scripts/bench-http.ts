/**
 * What our shell costs per request: CPU time of the service's HTTP server beside that of a bare Koa server that answers with
 * the same JSON, in alternating rounds of one run. Handlers hold no work but signing, so that the shell is what is measured.
 * `npm run bench` prints it with the other benchmarks. Exit code 1 when a ratio is below its budget.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { drive } from './bench/load.ts'

const SERVER = fileURLToPath(new URL('./bench/http-server.ts', import.meta.url))
const ROUNDS = 4
const ROUND_MS = 2000
const CONNECTIONS = 16

const KEY = 'bench-key-of-thirty-two-characters'
const HEADERS = `Host: bench\r\nAuthorization: Bearer ${KEY}\r\n`
const MESSAGE = JSON.stringify({ message: 'Log in to example.com, nonce 8731' })

interface Case {
  readonly name: string
  readonly budget: number
  readonly request: string
}

const CASES: readonly Case[] = [
  {
    name: 'GET ten records',
    budget: 0.8,
    request: `GET /api/v1/relayers HTTP/1.1\r\n${HEADERS}\r\n`,
  },
  {
    name: 'POST sign',
    budget: 0.6,
    request: `POST /api/v1/relayers/r-1/sign HTTP/1.1\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`,
  },
]

type Kind = 'ours' | 'bare'

/** A server in a process of its own, so that each has one core's worth of time. */
interface Server {
  readonly process: ChildProcess
  readonly port: number
  /** CPU time used so far, in microseconds. */
  cpu(): Promise<number>
}

async function startServer(kind: Kind): Promise<Server> {
  const child = spawn(process.execPath, [SERVER, kind, KEY], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [port] = (await once(child, 'message')) as [number]
  const cpu = async () => {
    child.send('cpu')
    const [microseconds] = (await once(child, 'message')) as [number]
    return microseconds
  }
  return { process: child, port, cpu }
}

interface Sum {
  requests: number
  microseconds: number
}

/**
 * CPU time per request of both servers, from rounds that alternate. A server has one thread, so this is the reciprocal of its
 * throughput on a core of its own, whatever else the machine is doing.
 */
async function compare(request: string, servers: Record<Kind, Server>): Promise<Record<Kind, number>> {
  const sums: Record<Kind, Sum> = {
    ours: { requests: 0, microseconds: 0 },
    bare: { requests: 0, microseconds: 0 },
  }
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const kind of ['ours', 'bare'] as const) {
      const server = servers[kind]
      const before = await server.cpu()
      const requests = await drive({ port: server.port, request, ms: ROUND_MS, connections: CONNECTIONS })
      // The first round only warms up.
      if (round === 0) continue
      sums[kind].requests += requests
      sums[kind].microseconds += (await server.cpu()) - before
    }
  }
  return { ours: perRequest(sums.ours), bare: perRequest(sums.bare) }
}

function perRequest({ requests, microseconds }: Sum): number {
  return microseconds / requests
}

const servers = { ours: await startServer('ours'), bare: await startServer('bare') }
try {
  for (const { name, budget, request } of CASES) {
    const { ours, bare } = await compare(request, servers)
    const ratio = bare / ours
    const times = `${ours.toFixed(1)} µs of CPU per request, bare Koa ${bare.toFixed(1)} µs`
    console.log(`${name}: ${times}, ratio ${ratio.toFixed(2)}, budget ${budget}`)
    if (ratio < budget) process.exitCode = 1
  }
} finally {
  for (const { process: child } of Object.values(servers)) child.kill()
}
