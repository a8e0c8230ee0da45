import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { openStream } from '../support/event-stream.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Scenario, scenarioOf } from '../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const COUNT = 40

let anvil: Anvil
let postgres: PostgresServer
let databaseUrl: string
let services: [Service, Service]
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  postgres = await startPostgres()
  databaseUrl = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], databaseUrl })
  services = [await start(), await start()]
  story = scenarioOf(anvil, services[1])
}, 60_000)
afterAll(async () => {
  await services[1].stop()
  await postgres.stop()
  await anvil.stop()
})

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x2000_0000 + index).toString(16).padStart(40, '0')}`

test('two services on one PostgreSQL share the accounts: each request is executed once, also when one of them goes', async () => {
  const answers = await Promise.all(
    Array.from({ length: COUNT }, (_, index) =>
      services[index % 2]?.api('POST', '/relayers/main/transactions', { to: receiver(index), value: 1 }),
    ),
  )
  expect(answers.map((answer) => answer?.status)).toEqual(Array(COUNT).fill(200))
  await services[0].stop()
  await story.settle()
  const { body } = await services[1].api<{ status: string; nonce: number }[]>(
    'GET',
    '/relayers/main/transactions?per_page=100',
  )
  expect(body.data.map(({ status }) => status)).toEqual(Array(COUNT).fill('confirmed'))
  expect(body.data.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)).toEqual([...Array(COUNT).keys()])
  for (let index = 0; index < COUNT; index += 1) {
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', [receiver(index), 'latest']))).toBe(1n)
  }
}, 60_000)

test('replacements of one transaction through both services are served one after the other', async () => {
  const second = await startService({ rpcUrls: [anvil.url], databaseUrl })
  try {
    const sent = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(sent.id, 'submitted')
    const path = `/relayers/main/transactions/${sent.id}`
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        [services[1], second][index % 2]?.api('PUT', path, {
          to: RECEIVER,
          value: 10 + index,
          speed: 'fast',
        }),
      ),
    )
    expect(answers.map((answer) => answer?.status)).toEqual(Array(6).fill(200))
    const now = await story.get(sent.id)
    expect(now.attempts).toHaveLength(7)
    await story.settle()
    expect(await story.minedHash(DEV_ADDRESSES[0], now.nonce ?? -1)).toBe(now.hash)
  } finally {
    await second.stop()
  }
}, 60_000)

test('two services together allow a key about the rate of one', async () => {
  // So few that a busy machine sends more.
  const [perSecond, burst, seconds] = [20, 10, 5]
  const env = {
    RATE_LIMIT_REQUESTS_PER_SECOND: String(perSecond),
    RATE_LIMIT_BURST_SIZE: String(burst),
  }
  const shared = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], databaseUrl: shared, env })
  const [first, second] = [await start(), await start()]
  try {
    const startedAt = performance.now()
    const elapsed = () => (performance.now() - startedAt) / 1000
    const counts = new Map<number, number>()
    while (elapsed() < seconds)
      for (const service of [first, second]) {
        const { status, headers } = await service.api('GET', '/relayers')
        counts.set(status, (counts.get(status) ?? 0) + 1)
        expect(headers.get('ratelimit')).toMatch(/^"requests";r=\d+;t=\d+$/)
      }
    const admitted = counts.get(200) ?? 0
    expect([...counts.keys()].sort()).toEqual([200, 429])
    // Alone, each of them would allow `burst + perSecond * seconds`. The bound grants two seconds to exchanges on a slow machine.
    expect(admitted).toBeLessThan(2 * burst + perSecond * (elapsed() + 2))
    expect(admitted).toBeGreaterThan(perSecond * (seconds - 2))
  } finally {
    await Promise.all([first.stop(), second.stop()])
  }
}, 60_000)

test('a key that one service changes is another one for both, and its streams end', async () => {
  const second = await startService({ rpcUrls: [anvil.url], databaseUrl })
  try {
    const key = { id: 'shared', name: 'Shared', scopes: ['relayers:read', 'events:read'] }
    const created = await second.api<{ secret: string }>('POST', '/api-keys', key)
    const headers = { authorization: `Bearer ${created.body.data.secret}` }
    const status = async () => (await services[1].api('GET', '/relayers/main', undefined, headers)).status
    await until(status, (now) => now === 200)
    const stream = await openStream(services[1].url, { headers })
    const ended = stream.rest()
    await second.api('PATCH', '/api-keys/shared', { disabled: true })
    await ended
    expect(await status()).toBe(401)
  } finally {
    await second.stop()
  }
}, 60_000)
