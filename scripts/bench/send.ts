import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Anvil, startAnvil } from '../../test/support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../test/support/faulty-node.ts'
import { type ServiceProcess, startProcess } from '../../test/support/process.ts'
import { API_KEY, callService, DEV_ADDRESSES, RECEIVER } from '../../test/support/service.ts'
import { drive, requestBytes, times } from './load.ts'
import { atLeast, atMost, type Budget, type Measurement, percentile } from './measurement.ts'
import { measureSink } from './sink.ts'

const PATH = '/relayers/main/transactions'
const BODY = { to: RECEIVER, value: 1, gas_limit: 21_000 }
const REQUEST = requestBytes('POST', `/api/v1${PATH}`, { key: API_KEY, body: BODY })
const CONNECTIONS = 64

/** Sent before the clock runs: connections are opened, code is compiled. */
export const WARM_UP = 100

/** Requests one after the other, for the time to the node. */
const LONE_REQUESTS = 100
const LONE_PAUSE_MS = 50

/** The longest that one phase may take, in ms. */
const TIMEOUT_MS = 600_000

/** USER_HZ of Linux: a tick of /proc/<pid>/stat, in ms. */
const TICK_MS = 10

/**
 * The main job, end to end: the service as a process of its own with the embedded database, in front of a fresh anvil,
 * beside the sink: the same anvil fed with presigned transactions. Linux only, as the CPU time comes from /proc.
 */
export async function benchSend({ transactions }: { transactions: number }): Promise<Measurement[]> {
  const sinkBefore = await measureSink(transactions)
  const sustained = await withService({ way: 'direct' }, (stage) => measureSustained(stage, transactions))
  const sinkAfter = await measureSink(transactions)
  const sink = (sinkBefore + sinkAfter) / 2
  const { calls, toNode } = await withService({ way: 'counted' }, (stage) =>
    measureCalls(stage, transactions),
  )
  const p95 = percentile(toNode, 0.95)
  return [
    {
      what: `send, ${transactions} transactions, until the node has all`,
      ours: `${sustained.perSecond.toFixed(0)} /s`,
      bare: `${sink.toFixed(0)} /s`,
      value: sustained.perSecond / sink,
      budget: atLeast(0.6),
    },
    single('send, lost', sustained.lost, { budget: atMost(0, ''), digits: 0 }),
    single('send, CPU per transaction', sustained.cpuMs, { budget: atMost(1.5, 'ms') }),
    single('send, RPC calls per transaction', calls, { budget: atMost(2, ''), digits: 3 }),
    single('send, request to node, p50', percentile(toNode, 0.5), { budget: atMost(50, 'ms'), digits: 1 }),
    { what: 'send, request to node, p95', ours: `${p95.toFixed(1)} ms`, value: p95 },
  ]
}

function single(
  what: string,
  value: number,
  { budget, digits = 2 }: { budget: Budget; digits?: number },
): Measurement {
  return { what, ours: `${value.toFixed(digits)} ${budget.unit}`.trimEnd(), value, budget }
}

/** Everything that a measurement of a running service needs. */
export interface Stage {
  readonly anvil: Anvil
  /** Counts and watches what the service asks; it stands in between only where that is wanted. */
  readonly node: FaultyNode
  readonly service: ServiceProcess
}

interface StageOptions {
  /** `counted`: through a node that counts what the service asks. */
  readonly way: 'direct' | 'counted'
  /** The receiver of all events. Default: none. */
  readonly notificationUrl?: string | undefined
  /** Default: the embedded database. */
  readonly databaseUrl?: string | undefined
}

/** Everything fresh, and ended whatever happens. */
export async function withService<T>(
  { way, notificationUrl, databaseUrl }: StageOptions,
  measure: (stage: Stage) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-bench-'))
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  const node = await startFaultyNode(anvil.url)
  try {
    const service = await startProcess({
      rpcUrl: way === 'direct' ? anvil.url : node.url,
      folder,
      ...(notificationUrl !== undefined && { notificationUrl }),
      env: {
        RELAYER_MAX_IN_FLIGHT: '10000',
        RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
        RATE_LIMIT_BURST_SIZE: '1000000',
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      },
    })
    try {
      await send(service, WARM_UP)
      await confirmed(service, WARM_UP)
      return await measure({ anvil, node, service })
    } finally {
      await service.terminate()
    }
  } finally {
    await node.stop()
    await anvil.stop()
    await rm(folder, { recursive: true })
  }
}

/** Sends so many, and waits until the service says that all are final. */
export async function measureSustained({ anvil, service }: Stage, count: number) {
  const cpuBefore = await cpuMs(service)
  const start = performance.now()
  await send(service, count)
  await becomes(async () => (await nonce(anvil, 'pending')) >= WARM_UP + count, 10)
  const elapsed = performance.now() - start
  await confirmed(service, WARM_UP + count)
  const cpu = (await cpuMs(service)) - cpuBefore
  const lost = WARM_UP + count - (await nonce(anvil, 'latest'))
  return { perSecond: (count / elapsed) * 1000, cpuMs: cpu / count, lost }
}

/** RPC calls under load, and then how long lone requests take from the first byte until their bytes arrive at the node. */
async function measureCalls({ node, service }: Stage, count: number) {
  node.calls.clear()
  await send(service, count)
  await confirmed(service, WARM_UP + count)
  const calls = [...node.calls.values()].reduce((sum, one) => sum + one, 0) / count
  const toNode: number[] = []
  while (toNode.length < LONE_REQUESTS) {
    const arrived = Promise.withResolvers<number>()
    node.fault = (methods) => {
      if (methods.includes('eth_sendRawTransaction')) arrived.resolve(performance.now())
      return 'pass'
    }
    const start = performance.now()
    await callService(service.url, { method: 'POST', path: PATH, body: BODY })
    toNode.push((await arrived.promise) - start)
    await new Promise((resolve) => setTimeout(resolve, LONE_PAUSE_MS))
  }
  return { calls, toNode }
}

async function send(service: ServiceProcess, count: number): Promise<void> {
  const port = Number(new URL(service.url).port)
  await drive({ port, request: REQUEST, connections: CONNECTIONS, more: times(count) })
}

/** Waits until the service itself says that so many transactions are final. */
async function confirmed(service: ServiceProcess, count: number): Promise<void> {
  const path = `${PATH}?status=confirmed&per_page=1`
  await becomes(async () => {
    const { body } = await callService(service.url, { method: 'GET', path })
    return (body.pagination?.total_items ?? 0) >= count
  }, 200)
}

/** Waits until it is so. */
export async function becomes(isSo: () => Promise<boolean>, everyMs: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not done within ${TIMEOUT_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

async function nonce(anvil: Anvil, block: 'latest' | 'pending'): Promise<number> {
  return Number(await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], block]))
}

/** User and system time of the process in ms: fields 14 and 15 of /proc/<pid>/stat; the name before them may hold blanks. */
export async function cpuMs({ child }: ServiceProcess): Promise<number> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
