import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Anvil } from '../../../test/support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../../test/support/faulty-node.ts'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { API_KEY, callService, DEV_ADDRESSES, RECEIVER } from '../../../test/support/service.ts'
import { startChain } from './chain.ts'
import { drive, requestBytes, times } from './load.ts'

const CONNECTIONS = 64

/** Sent before the clock runs: connections are opened, code is compiled. */
export const WARM_UP = 100

/** The longest that one phase may take, in ms. */
const TIMEOUT_MS = 1_200_000

/** USER_HZ of Linux: a tick of /proc/<pid>/stat, in ms. */
const TICK_MS = 10

export const BODY = { to: RECEIVER, value: 1, gas_limit: 21_000 }

/** The settings of memory with which the image starts the service (Dockerfile), but for one that the environment cannot set. */
export const AS_IN_IMAGE = {
  MALLOC_TRIM_THRESHOLD_: '1048576',
  NODE_OPTIONS: '--max-semi-space-size=16',
}

/** The limits are out of reach, so that they limit no measurement. */
export const WITHOUT_LIMITS = {
  ...AS_IN_IMAGE,
  RELAYER_MAX_IN_FLIGHT: '10000',
  RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
  RATE_LIMIT_BURST_SIZE: '1000000',
}

export const transactionsOf = (relayer: string) => `/relayers/${relayer}/transactions`

/** The bytes of a request that sends a transaction. */
export function sendRequest(relayer = 'main'): string {
  return requestBytes('POST', `/api/v1${transactionsOf(relayer)}`, { key: API_KEY, body: BODY })
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
  return withFolder((folder) =>
    withAnvil(async (anvil) => {
      const node = await startFaultyNode(anvil.url)
      try {
        const service = await startProcess({
          rpcUrl: way === 'direct' ? anvil.url : node.url,
          folder,
          ...(notificationUrl !== undefined && { notificationUrl }),
          env: { ...WITHOUT_LIMITS, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) },
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
      }
    }),
  )
}

export async function withAnvil<T>(measure: (anvil: Anvil) => Promise<T>): Promise<T> {
  const anvil = await startChain()
  try {
    return await measure(anvil)
  } finally {
    await anvil.stop()
  }
}

export async function withFolder<T>(measure: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-bench-'))
  try {
    return await measure(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Sustained {
  readonly perSecond: number
  /** For each transaction. */
  readonly cpuMs: number
  readonly lost: number
}

/** Sends so many, and waits until the service says that all are final. */
export async function measureSustained(
  { anvil, service }: Pick<Stage, 'anvil' | 'service'>,
  count: number,
): Promise<Sustained> {
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

/** Sends so many under full load, and returns how long each took until it was accepted, in ms. */
export async function send(service: ServiceProcess, count: number): Promise<number[]> {
  const latencies: number[] = []
  await drive({
    port: portOf(service),
    request: sendRequest(),
    connections: CONNECTIONS,
    more: times(count),
    onAnswer: (ms) => latencies.push(ms),
  })
  return latencies
}

export function portOf({ url }: ServiceProcess): number {
  return Number(new URL(url).port)
}

/** Waits until the service itself says that this many transactions are final. */
export async function confirmed(service: ServiceProcess, count: number, relayer = 'main'): Promise<void> {
  const path = `${transactionsOf(relayer)}?status=confirmed&per_page=1`
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
    await pause(everyMs)
  }
}

/** The nonce of the account of `main` after the newest block, or after all that the node has. */
export async function nonce(anvil: Anvil, block: 'latest' | 'pending'): Promise<number> {
  return Number(await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], block]))
}

/** User and system time of the process in ms: fields 14 and 15 of /proc/<pid>/stat; the name before them may hold blanks. */
export async function cpuMs({ child }: ServiceProcess): Promise<number> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
