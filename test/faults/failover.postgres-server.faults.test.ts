import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createPostgres, type LatePostgres } from '../support/postgres.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { scenarioOf } from '../support/scenario.ts'
import {
  type Answer,
  callService,
  DEV_ADDRESSES,
  type Service,
  type Transaction,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Requests that wait for their answer at the same time. */
const CALLERS = 8

/** So many requests are accepted before the primary fails, and again after the standby has taken over. */
const ACCEPTED = 60

/** A caller repeats a request after this time, in ms; it is less than `Retry-After` says, to see when the service accepts again. */
const REPEAT_AFTER_MS = 50

/** From the promotion to the first accepted request, in ms. */
const GOAL_MS = 5_000

interface Pair {
  readonly primary: LatePostgres
  readonly standby: LatePostgres
  /** Leads to the one that accepts writes. */
  readonly databaseUrl: string
}

async function startPair(options: { readonly synchronous: boolean }): Promise<Pair> {
  const primary = await createPostgres()
  onTestFinished(() => primary.stop())
  await primary.start()
  const standby = await primary.startStandby(options)
  onTestFinished(() => standby.stop())
  const hosts = [primary, standby].map(({ url }) => new URL(url).host)
  return {
    primary,
    standby,
    databaseUrl: `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=read-write`,
  }
}

async function startChain(args: readonly string[] = []): Promise<Anvil> {
  const anvil = await startAnvil({ args })
  onTestFinished(() => anvil.stop())
  return anvil
}

/** A process of its own, with relayer `main`. */
async function startServer(anvil: Anvil, env: Record<string, string>): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-failover-'))
  const service = await startProcess({
    rpcUrl: anvil.url,
    folder,
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000', ...env },
  })
  onTestFinished(async () => {
    await service.kill()
    await rm(folder, { recursive: true })
  })
  return service
}

/** What stories call. */
function apiOf({ url }: { readonly url: string }): Service {
  return {
    url,
    api: (method, path, body, headers) => callService(url, { method, path, body, headers }),
    stop: async () => {},
  }
}

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x5000_0000 + index).toString(16).padStart(40, '0')}`

const paid = async (anvil: Anvil, index: number) =>
  Number(await anvil.rpc<string>('eth_getBalance', [receiver(index), 'latest']))

/** One wei to the receiver of this number, as often as the caller likes. */
function send(url: string, index: number): Promise<Answer<Transaction>> {
  return callService<Transaction>(url, {
    method: 'POST',
    path: '/relayers/main/transactions',
    body: { to: receiver(index), value: 1 },
    headers: { 'idempotency-key': `failover-${index}` },
  })
}

interface Load {
  /** When each request was accepted, by its number, as `performance.now()` tells it. */
  readonly accepted: ReadonlyMap<number, number>
  /** The ids that were told, by number. */
  readonly ids: ReadonlyMap<number, string>
  /** The number of answers that told to try again. */
  refused(): number
  /** Ends it when every request is accepted. */
  stop(): Promise<void>
}

/** Callers that repeat each request, with its key, at one service after the other until one accepts it. */
function startLoad(urls: readonly string[]): Load {
  const accepted = new Map<number, number>()
  const ids = new Map<number, string>()
  let next = 0
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
    while (!isOver) await insist(next++)
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

test.each([
  ['killed', 'crash'],
  ['frozen, with its connections open', 'freeze'],
] as const)(
  'under load the primary is %s and its synchronous standby promoted: nothing is lost or doubled, and requests are accepted within seconds',
  async (_how, fail) => {
    const anvil = await startChain()
    const { primary, standby, databaseUrl } = await startPair({ synchronous: true })
    const one = await startServer(anvil, { DATABASE_URL: databaseUrl })
    const other = await startServer(anvil, { DATABASE_URL: databaseUrl })
    const load = startLoad([one.url, other.url])
    await until(
      async () => load.accepted.size,
      (count) => count >= ACCEPTED,
    )
    const failedAt = performance.now()
    await primary[fail]()
    const refused = load.refused()
    await until(
      async () => load.refused(),
      (count) => count >= refused + CALLERS,
    )
    const before = load.accepted.size
    const promotedAt = performance.now()
    await standby.promote()
    await until(
      async () => load.accepted.size,
      (count) => count >= before + ACCEPTED,
    )
    await load.stop()
    const first = Math.min(...[...load.accepted.values()].filter((at) => at > promotedAt))
    process.stdout.write(
      `primary ${fail}: first accepted request ${Math.round(first - promotedAt)} ms after the promotion began, ` +
        `which was ${Math.round(promotedAt - failedAt)} ms after the failure; ${load.accepted.size} accepted, ${load.refused()} refused\n`,
    )
    expect(first - promotedAt).toBeLessThanOrEqual(GOAL_MS)

    const service = apiOf(one)
    await scenarioOf(anvil, service).settle()
    const indexes = [...load.accepted.keys()]
    const times = await Promise.all(indexes.map((index) => paid(anvil, index)))
    expect(times).toEqual(indexes.map(() => 1))
    for (const id of load.ids.values()) {
      const { body } = await service.api('GET', `/relayers/main/transactions/${id}`)
      expect(body.data.status).toBe('confirmed')
    }
    const { body } = await service.api<unknown>('GET', '/relayers/main/transactions?per_page=0')
    expect(body.pagination?.total_items).toBe(indexes.length)
    const used = await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest'])
    expect(Number(used)).toBe(indexes.length)
  },
)

/** How many transactions have each status, as this server has them. */
async function countStatuses(url: string): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ status: string; count: string }>(
      'select status, count(*) from transactions group by status',
    )
    return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]))
  } finally {
    await client.end()
  }
}

test('an asynchronous standby loses what it did not get, and pays nothing twice: the relayer stops until an operator accepts its nonces', async () => {
  const anvil = await startChain(['--no-mining'])
  const { primary, standby, databaseUrl } = await startPair({ synchronous: false })
  const server = await startServer(anvil, { DATABASE_URL: databaseUrl, RELAYER_MAX_IN_FLIGHT: '1' })
  const story = scenarioOf(anvil, apiOf(server))
  const accept = async (index: number) => {
    const { status, body } = await send(server.url, index)
    expect(status).toBe(200)
    return body.data.id
  }
  const [signed, waiting, waitingLonger] = [await accept(1), await accept(2), await accept(3)]
  await until(
    () => countStatuses(standby.url),
    ({ submitted, pending }) => submitted === 1 && pending === 2,
  )

  // From here on the standby gets nothing: neither what is signed, nor what is accepted.
  await primary.holdBack()
  const [lostInPool, lost] = [await accept(4), await accept(5)]
  for (const id of [signed, waiting, waitingLonger]) {
    await story.reach(id, 'submitted')
    await story.mine()
  }
  await story.reach(lostInPool, 'submitted')
  await primary.crash()
  await standby.promote()

  const relayer = async () => (await story.service.api<Schemas['Relayer']>('GET', '/relayers/main')).body.data
  const disabled = await until(relayer, (seen) => seen?.system_disabled)
  expect(disabled.disabled_reason).toEqual({
    type: 'UnexplainedNonces',
    details: expect.stringMatching(
      /has nonce 3 next on network anvil, and the records explain those below 1:/,
    ),
  })
  await story.mine()
  expect((await send(server.url, 4)).body.code).toBe('relayer_disabled')
  for (const id of [lostInPool, lost])
    expect((await story.service.api('GET', `/relayers/main/transactions/${id}`)).status).toBe(404)
  // The pair agrees with the chain about what it has: the first one is confirmed, and no one signs the two that were paid.
  await story.reach(signed, 'confirmed', () => void story.mine())
  for (const id of [waiting, waitingLonger]) {
    expect(await story.get(id)).toMatchObject({ status: 'pending' })
    expect((await story.cancel(id)).body.data).toMatchObject({ status: 'canceled' })
  }
  const accepted = await story.service.api('POST', '/relayers/main/accept-nonces', {
    reason: 'seen on the chain',
  })
  expect(accepted.body.data).toMatchObject({ system_disabled: false })

  // The caller of the lost one repeats it.
  const repeated = await accept(5)
  expect(repeated).not.toBe(lost)
  await story.settle()
  expect(await story.get(repeated)).toMatchObject({ status: 'confirmed', nonce: 4 })
  expect(await Promise.all([1, 2, 3, 4, 5].map((index) => paid(anvil, index)))).toEqual([1, 1, 1, 1, 1])
})
