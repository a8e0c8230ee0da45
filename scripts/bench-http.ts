/**
 * What our shell costs per request: requests per second of the service's HTTP server beside a bare Koa server that sends the
 * same bytes, in alternating rounds of one run. Handlers hold no work but signing, so that the shell is what is measured.
 * `npm run bench` prints it with the other benchmarks. Exit code 1 when a ratio is below its budget.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { drive, type Load } from './bench/load.ts'

const SERVER = fileURLToPath(new URL('./bench/http-server.ts', import.meta.url))
const ROUNDS = 4
const ROUND_MS = 2000

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

/** A server in a process of its own, so that each has one core's worth of time. */
async function startServer(kind: 'ours' | 'bare'): Promise<{ process: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [SERVER, kind, KEY], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [port] = (await once(child, 'message')) as [number]
  return { process: child, port }
}

/** Requests per second of both, from rounds that alternate, so that what disturbs the machine disturbs both. */
async function compare(
  request: string,
  ports: Record<'ours' | 'bare', number>,
): Promise<Record<'ours' | 'bare', number>> {
  const load = (kind: 'ours' | 'bare', ms: number): Load => ({
    port: ports[kind],
    request,
    ms,
    connections: 16,
  })
  const totals = { ours: 0, bare: 0 }
  for (const kind of ['ours', 'bare'] as const) await drive(load(kind, ROUND_MS))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of ['ours', 'bare'] as const) totals[kind] += await drive(load(kind, ROUND_MS))
  }
  return { ours: totals.ours / ROUNDS, bare: totals.bare / ROUNDS }
}

const servers = { ours: await startServer('ours'), bare: await startServer('bare') }
try {
  for (const { name, budget, request } of CASES) {
    const { ours, bare } = await compare(request, { ours: servers.ours.port, bare: servers.bare.port })
    const ratio = ours / bare
    console.log(
      `${name}: ${ours.toFixed(0)}/s of ${bare.toFixed(0)}/s bare, ratio ${ratio.toFixed(2)}, budget ${budget}`,
    )
    if (ratio < budget) process.exitCode = 1
  }
} finally {
  for (const { process: child } of Object.values(servers)) child.kill()
}
