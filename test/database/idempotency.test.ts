import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { scenarioOf } from '../support/scenario.ts'
import { type Service, startService } from '../support/service.ts'

const ROUNDS = 10
const CALLERS = 12

let anvil: Anvil
let postgres: PostgresServer
let services: readonly Service[]

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], databaseUrl })
  services = [await start(), await start()]
}, 60_000)
afterAll(async () => {
  for (const service of services) await service.stop()
  await postgres.stop()
  await anvil.stop()
})

/** Receivers that nobody else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x3000_0000 + index).toString(16).padStart(40, '0')}`

test('one key sent to two services at the same instant makes one transaction, which is executed once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        services[index % 2]?.api(
          'POST',
          '/relayers/main/transactions',
          { to: receiver(round), value: 1 },
          { 'Idempotency-Key': `round-${round}` },
        ),
      ),
    )
    expect(answers.map((answer) => answer?.status)).toEqual(Array(CALLERS).fill(200))
    expect(new Set(answers.map((answer) => answer?.body.data.id)).size).toBe(1)
  }
  const [service] = services
  if (service === undefined) throw new Error('no service was started')
  await scenarioOf(anvil, service).settle()
  const { body } = await service.api('GET', '/relayers/main/transactions?per_page=0')
  expect(body.pagination?.total_items).toBe(ROUNDS)
  for (let round = 0; round < ROUNDS; round += 1)
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', [receiver(round), 'latest']))).toBe(1n)
}, 60_000)

test('two bodies under one key at the same instant, each at another service: one counts', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all(
      services.map((service, index) =>
        service.api(
          'POST',
          '/relayers/other/transactions',
          { to: receiver(100 + index), value: 1 },
          { 'Idempotency-Key': `contest-${round}` },
        ),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  }
}, 60_000)
