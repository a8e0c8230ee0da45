import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { limitConcurrency } from '../../src/lib/concurrency/limit-concurrency.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { scenarioOf } from '../support/scenario.ts'
import {
  type Answer,
  callService,
  DEV_ADDRESSES,
  type Service,
  type Transaction,
} from '../support/service.ts'

/** Requests that wait for their answer at the same time. */
export const CALLERS = 8

/**
 * A caller repeats a request after this time, in ms; it is less than `Retry-After` says, to see when the
 * service accepts again.
 */
const REPEAT_AFTER_MS = 50

/** An anvil that ends with the test. */
export async function startChain(args: readonly string[] = []): Promise<Anvil> {
  const anvil = await startAnvil({ args })
  onTestFinished(() => anvil.stop())
  return anvil
}

/** A process of its own, with relayer `main`. */
export async function startServer(
  anvil: Anvil,
  env: Record<string, string>,
  onLine?: (line: string) => void,
): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-failover-'))
  const service = await startProcess({
    rpcUrl: anvil.url,
    folder,
    ...(onLine && { onLine }),
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000', ...env },
  })
  onTestFinished(async () => {
    await service.kill()
    await rm(folder, { recursive: true })
  })
  return service
}

/** What stories call. */
export function apiOf({ url }: { readonly url: string }): Service {
  return {
    url,
    api: (method, path, body, headers) => callService(url, { method, path, body, headers }),
    stop: async () => {},
  }
}

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x5000_0000 + index).toString(16).padStart(40, '0')}`

/** Calls to anvil at the same time. All at once, the last of a thousand would time out. */
const CALLS = 20

/** How often the receivers of these numbers were paid. */
export function paid(anvil: Anvil, indexes: readonly number[]): Promise<number[]> {
  const inTurn = limitConcurrency(CALLS)
  const balance = (index: number) => anvil.rpc<string>('eth_getBalance', [receiver(index), 'latest'])
  return Promise.all(indexes.map((index) => inTurn(async () => Number(await balance(index)))))
}

/** One wei to the receiver of this number, as often as the caller likes. */
export function send(url: string, index: number): Promise<Answer<Transaction>> {
  return callService<Transaction>(url, {
    method: 'POST',
    path: '/relayers/main/transactions',
    body: { to: receiver(index), value: 1 },
    headers: { 'idempotency-key': `failover-${index}` },
  })
}

export interface Load {
  /** When each request was accepted, by its number, as `performance.now()` tells it. */
  readonly accepted: ReadonlyMap<number, number>
  /** The ids that were told, by number. */
  readonly ids: ReadonlyMap<number, string>
  /** The number of answers that told to try again. */
  refused(): number
  /** Ends it when every request is accepted. */
  stop(): Promise<void>
}

interface LoadOptions {
  /** The number of the first request. Default: 0. */
  readonly first?: number
  /** Time in ms that each caller waits after an accepted request. Default: none. */
  readonly paceMs?: number
}

/** Callers that repeat each request, with its key, at one service after the other until one accepts it. */
export function startLoad(urls: readonly string[], { first = 0, paceMs = 0 }: LoadOptions = {}): Load {
  const accepted = new Map<number, number>()
  const ids = new Map<number, string>()
  let next = first
  let refused = 0
  let isOver = false
  const insist = async (index: number) => {
    for (let tries = 0; ; tries += 1) {
      const { status, body } = await send(urls[(index + tries) % urls.length] ?? '', index)
      if (status === 200) {
        accepted.set(index, performance.now())
        ids.set(index, body.data.id)
        return
      }
      expect([status, body.code]).toEqual([503, 'database_unavailable'])
      refused += 1
      await pause(REPEAT_AFTER_MS)
    }
  }
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      await insist(next++)
      if (paceMs > 0) await pause(paceMs)
    }
  })
  const all = Promise.all(callers)
  // `stop` tells of a failure; a test that fails before that has another one to tell.
  all.catch(() => {
    isOver = true
  })
  onTestFinished(() => {
    isOver = true
  })
  return {
    accepted,
    ids,
    refused: () => refused,
    stop: async () => {
      isOver = true
      await all
    },
  }
}

/** Everything that was accepted is confirmed, has paid once, and is all that there is. */
export async function expectAllPaidOnce(anvil: Anvil, server: ServiceProcess, load: Load): Promise<void> {
  const service = apiOf(server)
  await scenarioOf(anvil, service).settle()
  const indexes = [...load.accepted.keys()]
  expect(await paid(anvil, indexes)).toEqual(indexes.map(() => 1))
  for (const id of load.ids.values()) {
    const { body } = await service.api('GET', `/relayers/main/transactions/${id}`)
    expect(body.data.status).toBe('confirmed')
  }
  const { body } = await service.api<unknown>('GET', '/relayers/main/transactions?per_page=0')
  expect(body.pagination?.total_items).toBe(indexes.length)
  const used = await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest'])
  expect(Number(used)).toBe(indexes.length)
}
