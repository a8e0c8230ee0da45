import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Row } from '../measurement.ts'
import type { Listening } from '../support/http-server.ts'
import { drive, during, requestBytes } from '../support/load.ts'

const SERVER = fileURLToPath(new URL('../support/http-server.ts', import.meta.url))
const ROUNDS = 5
const ROUND_MS = 1500
const CONNECTIONS = 16

const KEY = 'bench-key-of-thirty-two-characters'
const MESSAGE = { message: 'Log in to example.com, nonce 8731' }

interface Case {
  readonly name: string
  readonly counterpart: string
  readonly request: string
}

const CASES: readonly Case[] = [
  {
    name: 'GET of a ten-record list',
    counterpart: 'Koa that sends the same bytes, ready made',
    request: requestBytes('GET', '/api/v1/relayers', { key: KEY }),
  },
  {
    name: 'POST sign',
    counterpart: 'Koa that echoes the body and signs nothing',
    request: requestBytes('POST', '/api/v1/relayers/r-1/sign', { key: KEY, body: MESSAGE }),
  },
]

const KINDS = ['ours', 'bare'] as const
type Kind = (typeof KINDS)[number]

/** A server in a process of its own, so that each has one core's worth of time. */
interface Server {
  readonly process: ChildProcess
  readonly port: number
  /** CPU time used so far, in microseconds. */
  cpu(): Promise<number>
}

/**
 * What our shell costs: the service's HTTP server beside a bare Koa server that sends the same bytes, in alternating
 * rounds. The handlers hold no work but signing. A server has one thread, so CPU time per request is the reciprocal of its
 * throughput on a core of its own, whatever else the machine is doing; requests per second are what it did here.
 */
export async function benchHttp(): Promise<Row[]> {
  const servers = { ours: await startServer('ours'), bare: await startServer('bare') }
  try {
    const measurements: Row[] = []
    for (const one of CASES) measurements.push(await compare(one, servers))
    return measurements
  } finally {
    for (const { process: child } of Object.values(servers)) child.kill()
  }
}

async function startServer(kind: Kind): Promise<Server> {
  const child = spawn(process.execPath, [SERVER, kind, KEY], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [listening] = (await Promise.race([once(child, 'message'), failed(child)])) as [Listening]
  const cpu = async () => {
    child.send('cpu')
    const [microseconds] = (await once(child, 'message')) as [number]
    return microseconds
  }
  return { process: child, ...listening, cpu }
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null]
  throw new Error(`a server ended with ${code} before it listened`)
}

interface Sum {
  requests: number
  cpuMicroseconds: number
  milliseconds: number
}

async function compare({ name, counterpart, request }: Case, servers: Record<Kind, Server>): Promise<Row> {
  const sums: Record<Kind, Sum> = { ours: emptySum(), bare: emptySum() }
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const kind of KINDS) {
      // The first round only warms up.
      await oneRound(servers[kind], request, round === 0 ? emptySum() : sums[kind])
    }
  }
  const { ours, bare } = { ours: rates(sums.ours), bare: rates(sums.bare) }
  return {
    what: `${name}, CPU per request; bare: ${counterpart}`,
    ours: `${ours.cpu.toFixed(1)} µs`,
    bare: `${bare.cpu.toFixed(1)} µs`,
    value: bare.cpu / ours.cpu,
  }
}

async function oneRound({ port, cpu }: Server, request: string, sum: Sum): Promise<void> {
  const [cpuBefore, before] = [await cpu(), performance.now()]
  sum.requests += await drive({ port, request, connections: CONNECTIONS, more: during(ROUND_MS) })
  sum.milliseconds += performance.now() - before
  sum.cpuMicroseconds += (await cpu()) - cpuBefore
}

function emptySum(): Sum {
  return { requests: 0, cpuMicroseconds: 0, milliseconds: 0 }
}

function rates({ requests, cpuMicroseconds, milliseconds }: Sum) {
  return { cpu: cpuMicroseconds / requests, perSecond: (requests / milliseconds) * 1000 }
}
