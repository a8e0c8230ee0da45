import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { API_KEY, callService, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** The most `data` that the contract accepts, in bytes. */
const LARGEST_DATA = 131_072
const TRANSACTIONS = 50

let folder: string
let anvil: Anvil
let service: ServiceProcess
let sockets: Socket[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'relayer-unread-'))
  anvil = await startAnvil()
  service = await startProcess({ rpcUrl: anvil.url, folder })
  const later = new Date(Date.now() + 86_400_000).toISOString()
  const largest = { to: RECEIVER, value: 0, data: `0x${'ab'.repeat(LARGEST_DATA)}`, gas_limit: 25_000_000 }
  for (let count = 0; count < TRANSACTIONS; count += 1) {
    const path = '/relayers/main/transactions'
    const sent = await call<{ id: string }>('POST', path, { ...largest, valid_from: later })
    expect([sent.status, sent.body.error]).toEqual([200, undefined])
    expect((await call('DELETE', `${path}/${sent.body.data.id}`)).status).toBe(200)
  }
}, 120_000)
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets = []
})
afterAll(async () => {
  await service.terminate()
  await anvil.stop()
  await rm(folder, { recursive: true })
})

function call<Data>(method: string, path: string, body?: object) {
  return callService<Data>(service.url, { method, path, body })
}

/** The memory of the process of the service, in MB. */
function resident(): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(service.child.pid)])) / 1024
}

/** Asks on this many connections, each of which takes what its own buffers hold, and no more. */
function askAndNotRead(path: string, count: number): void {
  const { hostname, port } = new URL(service.url)
  sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.on('readable', () => {})
    socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`)
    return socket
  })
}

/** The most that the memory has grown, in MB, during some requests of others, all of which are answered. */
async function growthSince(before: number): Promise<number> {
  const seen: number[] = []
  for (let count = 0; count < 20; count += 1) {
    expect((await call('GET', '/relayers/main/status')).status).toBe(200)
    seen.push(resident() - before)
  }
  return Math.max(...seen)
}

test('a page of events of the largest transactions is not much larger than one of them', async () => {
  const response = await fetch(`${service.url}/api/v1/events?limit=100`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  const bytes = (await response.text()).length
  expect(bytes).toBeGreaterThan(2 * LARGEST_DATA)
  expect(bytes).toBeLessThan(2 * LARGEST_DATA + 2 * 262_144 + 100_000)
})

test('a hundred event streams without a reader cost less than their budget and the work on it', async () => {
  const before = resident()
  askAndNotRead('/events/stream?after=0', 100)
  await until(
    async () => sockets.filter(({ bytesRead }) => bytesRead > 60_000).length,
    // The others get their first page when these have taken theirs.
    (reached) => reached >= 20,
    { timeoutMs: 45_000 },
  )
  expect(await growthSince(before)).toBeLessThan(200)
}, 60_000)

test('sixty lists of the largest transactions without a reader are refused beyond the budget', async () => {
  const before = resident()
  const path = '/relayers/main/transactions?per_page=100'
  askAndNotRead(path, 60)
  const { headers, body } = await until(
    () => call('GET', path),
    ({ status }) => status === 429,
    { timeoutMs: 45_000 },
  )
  expect(body.code).toBe('rate_limited')
  expect(headers.get('retry-after')).toBe('1')
  expect((await call('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })).status).toBe(200)
  expect(await growthSince(before)).toBeLessThan(500)
}, 60_000)
