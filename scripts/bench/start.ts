import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Anvil, startAnvil } from '../../test/support/anvil.ts'
import { hasPostgres, startPostgres } from '../../test/support/postgres.ts'
import { type ServiceProcess, startProcess } from '../../test/support/process.ts'
import { API_KEY, RECEIVER } from '../../test/support/service.ts'
import { drive, requestBytes, times } from './load.ts'
import { atMost, type Measurement, percentile } from './measurement.ts'
import { memoryOf } from './process-usage.ts'

/** Starts of each kind; the median counts. */
const STARTS = 5

/** Time in ms after which a service without requests is taken as idle. */
const IDLE_AFTER_MS = 10_000

/** Transactions of the load that makes the service compile what it needs, and of the one in which it is killed. */
const LOAD = 1_000
const CONNECTIONS = 32

const BODY = { to: RECEIVER, value: 1, gas_limit: 21_000 }
const REQUEST = requestBytes('POST', '/api/v1/relayers/main/transactions', { key: API_KEY, body: BODY })

/** The places where a service keeps its data. */
interface Place {
  readonly folder: string
  readonly env: Record<string, string>
}

/** Time to readiness, and memory, of the service as a process of its own. Linux only. */
export async function benchStart(): Promise<Measurement[]> {
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  const folder = await mkdtemp(join(tmpdir(), 'relayer-bench-'))
  try {
    const embedded = await measureEmbedded(anvil, folder)
    return [...embedded, ...(hasPostgres() ? await measurePostgres(anvil, folder) : [])]
  } finally {
    await anvil.stop()
    await rm(folder, { recursive: true })
  }
}

async function measureEmbedded(anvil: Anvil, folder: string): Promise<Measurement[]> {
  const env = { DURABILITY: 'full', ...WITHOUT_LIMITS }
  const empty: number[] = []
  for (let count = 0; count < STARTS; count += 1) {
    const place = { folder: join(folder, `empty-${count}`), env }
    await mkdir(join(place.folder, 'data'), { recursive: true })
    empty.push(await startAndStop(anvil, place))
  }
  const place = { folder: join(folder, 'empty-0'), env }
  const warm = await timesOf(STARTS, () => startAndStop(anvil, place))
  const used = await use(anvil, place)
  return [
    atMostMs('start, embedded, empty folder', percentile(empty, 0.5), 3_000),
    atMostMs('start, embedded, warm', percentile(warm, 0.5), 1_500),
    atMostMs('start, embedded, after kill -9 under load', used.afterKillMs, 2_000),
    atMostMb(`peak of a start and ${LOAD} transactions, embedded`, used.peak, 450),
    atMostMb('resident when idle, embedded', used.idle, 260),
  ]
}

async function measurePostgres(anvil: Anvil, folder: string): Promise<Measurement[]> {
  const postgres = await startPostgres()
  try {
    const env = { DATABASE_URL: await postgres.createDatabase(), ...WITHOUT_LIMITS }
    const place = { folder: join(folder, 'postgres'), env }
    await startAndStop(anvil, place)
    const warm = await timesOf(STARTS, () => startAndStop(anvil, place))
    const used = await use(anvil, place)
    return [
      atMostMs('start, PostgreSQL', percentile(warm, 0.5), 800),
      atMostMb('resident when idle, PostgreSQL', used.idle, 140),
    ]
  } finally {
    await postgres.stop()
  }
}

const WITHOUT_LIMITS = {
  RELAYER_MAX_IN_FLIGHT: '10000',
  RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
  RATE_LIMIT_BURST_SIZE: '1000000',
}

async function startAndStop(anvil: Anvil, place: Place): Promise<number> {
  const start = performance.now()
  const service = await startProcess({ rpcUrl: anvil.url, ...place })
  const ready = performance.now() - start
  await service.terminate()
  return ready
}

/** Memory of a service that was just started, after a load, and the time of a start after a kill in the middle of another load. */
async function use(anvil: Anvil, place: Place) {
  const fresh = await startProcess({ rpcUrl: anvil.url, ...place })
  await pause(IDLE_AFTER_MS)
  const idle = (await memoryOf(fresh)).resident
  await send(fresh, LOAD)
  const { peak } = await memoryOf(fresh)
  const cut = send(fresh, LOAD).catch(() => {})
  await pause(500)
  await fresh.kill()
  await cut
  const start = performance.now()
  const again = await startProcess({ rpcUrl: anvil.url, ...place })
  const afterKillMs = performance.now() - start
  await again.terminate()
  return { idle, peak, afterKillMs }
}

async function send({ url }: ServiceProcess, count: number): Promise<void> {
  const port = Number(new URL(url).port)
  await drive({ port, request: REQUEST, connections: CONNECTIONS, more: times(count) })
}

async function timesOf(count: number, measure: () => Promise<number>): Promise<number[]> {
  const results: number[] = []
  while (results.length < count) results.push(await measure())
  return results
}

function atMostMs(what: string, value: number, limit: number): Measurement {
  return { what, ours: `${value.toFixed(0)} ms`, value, budget: atMost(limit, 'ms') }
}

function atMostMb(what: string, value: number, limit: number): Measurement {
  return { what, ours: `${value.toFixed(0)} MB`, value, budget: atMost(limit, 'MB') }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
