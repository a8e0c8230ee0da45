import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../src/contract/operations.ts'
import { RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ServicePair, startServicePair } from './service-pair.ts'

const PHRASE = 'test test test test test test test test test test test junk'
const SEED = { id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE } } }
const POOL = { id: 'pool', network: 'anvil', network_type: 'evm', signer_id: 'seed' }
const ALL = '/relayers/pool/transactions'

let pair: ServicePair
beforeAll(async () => {
  pair = await startServicePair({
    signers: [SEED],
    relayers: [{ ...POOL, accounts: [{ signer_id: 'seed', count: 4 }] }],
  })
}, 120_000)
afterAll(() => pair.stop())

const service = (index: number) => pair.services[index % 2] ?? pair.services[0]
const send = (index: number, body: object, headers?: Record<string, string>) =>
  service(index).api('POST', ALL, { to: RECEIVER, value: index, ...body }, headers)

async function settle(): Promise<readonly Transaction[]> {
  const isFinal = ({ status }: Transaction) => ['confirmed', 'failed', 'canceled', 'expired'].includes(status)
  for (;;) {
    const all: Transaction[] = []
    for (let page = 1; ; page += 1) {
      const { body } = await service(0).api<Transaction[]>('GET', `${ALL}?per_page=100&page=${page}`)
      all.push(...body.data)
      if (body.data.length < 100) break
    }
    if (all.every(isFinal)) return all
    await pair.anvil.rpc('evm_mine')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('two processes give a lane one account', async () => {
  const lanes = ['a', 'b', 'c']
  const sent = await Promise.all(
    Array.from({ length: 60 }, (_, index) => send(index, { lane: lanes[index % 3] })),
  )
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]))
  const groups = Map.groupBy(sent, ({ body }) => body.data.lane)
  for (const those of groups.values()) expect(new Set(those.map(({ body }) => body.data.from)).size).toBe(1)
})

test('two processes accept an idempotency key once, whichever accounts they choose', async () => {
  const headers = { 'idempotency-key': 'once' }
  const body = { value: 7 }
  const sent = await Promise.all(Array.from({ length: 30 }, (_, index) => send(index, body, headers)))
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(sent.map((answer) => answer.body.data.id)).size).toBe(1)
})

test('accounts come and go while both processes send, and every transaction is executed once', async () => {
  const change = (count: number) =>
    service(count).api<Schemas['EvmRelayer']>('PATCH', '/relayers/pool', {
      accounts: [{ signer_id: 'seed', count }],
    })
  const accepted: string[] = []
  for (const count of [1, 4, 2, 3, 1, 4]) {
    const answers = await Promise.all([
      change(count),
      ...Array.from({ length: 20 }, (_, index) => send(index, {})),
    ])
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [200, undefined]),
    )
    for (const { body } of answers.slice(1)) accepted.push((body.data as Transaction).id)
    await pair.anvil.rpc('evm_mine')
  }
  const all = await settle()
  const found = new Map(all.map((one) => [one.id, one.status]))
  expect(accepted.map((id) => found.get(id))).toEqual(accepted.map(() => 'confirmed'))
  const numbered = all.map((one) => `${one.from} ${one.nonce}`)
  expect(new Set(numbered).size).toBe(numbered.length)
  await until(
    () => service(1).api<Schemas['EvmRelayer']>('GET', '/relayers/pool'),
    ({ body }) => body.data.accounts?.length === 4,
  )
}, 120_000)
