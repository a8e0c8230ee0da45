import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { atLeast, atMost, percentile, type Row } from '../measurement.ts'
import type { Listening } from '../support/http-server.ts'
import { drive, during, requestBytes, times } from '../support/load.ts'

const SERVER = fileURLToPath(new URL('../support/http-server.ts', import.meta.url))
const ROUNDS = 5
const ROUND_MS = 1500
const CONNECTIONS = 16

/** Requests with each refused key in a round. */
const REFUSED = 400

const KEY = 'bench-key-of-thirty-two-characters'
const MESSAGE = { message: 'Log in to example.com, nonce 8731' }

interface Case {
  readonly name: string
  readonly counterpart: string
  readonly goal: number
  readonly request: string
}

const CASES: readonly Case[] = [
  {
    name: 'GET of a ten-record list',
    counterpart: 'Koa that sends the same bytes, ready made',
    goal: 0.6,
    request: requestBytes('GET', '/api/v1/relayers', { key: KEY }),
  },
  {
    name: 'POST sign',
    counterpart: 'Koa that echoes the body and signs nothing',
    goal: 0.42,
    request: requestBytes('POST', '/api/v1/relayers/r-1/sign', { key: KEY, body: MESSAGE }),
  },
]

const KINDS = ['ours', 'bare'] as const
type Kind = (typeof KINDS)[number]

/** A server in a process of its own, so that each has one core's worth of time. */
interface Server {
  readonly process: ChildProcess
  readonly port: number
  /** The secret of an API key with scopes; empty where there is none. */
  readonly secret: string
  readonly disabledSecret: string
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
    for (const one of CASES) measurements.push(...(await compare(one, servers)))
    measurements.push(await compareKeys(servers.ours))
    measurements.push(await compareRefusals(servers.ours))
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

async function compare(
  { name, counterpart, goal, request }: Case,
  servers: Record<Kind, Server>,
): Promise<Row[]> {
  const sums: Record<Kind, Sum> = { ours: emptySum(), bare: emptySum() }
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const kind of KINDS) {
      // The first round only warms up.
      await oneRound(servers[kind], request, round === 0 ? emptySum() : sums[kind])
    }
  }
  const { ours, bare } = { ours: rates(sums.ours), bare: rates(sums.bare) }
  return [
    {
      what: `${name}, CPU per request; bare: ${counterpart}`,
      ours: `${ours.cpu.toFixed(1)} µs`,
      bare: `${bare.cpu.toFixed(1)} µs`,
      value: bare.cpu / ours.cpu,
      goal: atLeast(goal),
    },
    {
      what: `${name}, throughput; bare: ${counterpart}`,
      ours: `${ours.perSecond.toFixed(0)} /s`,
      bare: `${bare.perSecond.toFixed(0)} /s`,
      value: ours.perSecond / bare.perSecond,
      goal: atLeast(goal),
    },
  ]
}

/** The checks of a key with scopes, beside those of the key of the environment. */
async function compareKeys(server: Server): Promise<Row> {
  const list = (key: string) => requestBytes('GET', '/api/v1/relayers', { key })
  const sums = { record: emptySum(), root: emptySum() }
  for (let round = 0; round <= ROUNDS; round += 1) {
    await oneRound(server, list(server.secret), round === 0 ? emptySum() : sums.record)
    await oneRound(server, list(KEY), round === 0 ? emptySum() : sums.root)
  }
  const { record, root } = { record: rates(sums.record), root: rates(sums.root) }
  return {
    what: 'GET of a ten-record list with an API key of the database, CPU per request; bare: with that of the environment',
    ours: `${record.cpu.toFixed(1)} µs`,
    bare: `${root.cpu.toFixed(1)} µs`,
    value: record.cpu / root.cpu,
    goal: atMost(1.1),
  }
}

/** Compares the times of a 401: they should be the same for a key that is like a real one. */
async function compareRefusals({ port, secret, disabledSecret }: Server): Promise<Row> {
  const keys = [`rlk_${'A'.repeat(43)}`, `${secret.slice(0, -4)}AAAA`, disabledSecret]
  const latencies = keys.map((): number[] => [])
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, key] of keys.entries()) {
      const request = requestBytes('GET', '/api/v1/relayers', { key })
      const onAnswer = (ms: number) => void (round > 0 && latencies[index]?.push(ms))
      await drive({ port, request, connections: 1, more: times(REFUSED), status: 401, onAnswer })
    }
  }
  const medians = latencies.map((each) => percentile(each, 0.5) * 1000)
  const shown = medians.map((median) => median.toFixed(0)).join(', ')
  return {
    what: '401, median: for an unknown key, for one that differs from a real one in its last characters, for a disabled one',
    ours: `${shown} µs`,
    value: Math.max(...medians) / Math.min(...medians),
    goal: atMost(1.1),
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
