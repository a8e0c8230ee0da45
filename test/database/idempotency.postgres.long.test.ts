import { afterAll, beforeAll, expect, test } from 'vitest'
import { scenarioOf } from '../support/scenario.ts'
import { type ServicePair, startServicePair } from './service-pair.ts'

const ROUNDS = 10
const CALLERS = 12

let pair: ServicePair
beforeAll(async () => {
  pair = await startServicePair()
}, 60_000)
afterAll(() => pair.stop())

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x3000_0000 + index).toString(16).padStart(40, '0')}`

test('one key sent to two services at the same instant makes one transaction, which is executed once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        pair.services[index % 2]?.api(
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
  const [service] = pair.services
  await scenarioOf(pair.anvil, service).settle()
  const { body } = await service.api('GET', '/relayers/main/transactions?per_page=0')
  expect(body.pagination?.total_items).toBe(ROUNDS)
  for (let round = 0; round < ROUNDS; round += 1)
    expect(BigInt(await pair.anvil.rpc<string>('eth_getBalance', [receiver(round), 'latest']))).toBe(1n)
}, 60_000)

test('two bodies under one key at the same instant, each at another service: one counts', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await Promise.all(
      pair.services.map((service, index) =>
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
