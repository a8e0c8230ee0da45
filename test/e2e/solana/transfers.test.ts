import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Transaction } from '../../support/service.ts'
import {
  MAIN,
  RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

let story: SolanaScenario
beforeAll(async () => {
  story = await startSolanaScenario()
}, 60_000)
afterAll(() => story.stop())

const paid = (amount: number) => ({
  from: MAIN,
  to: RECEIVER,
  asset: 'native',
  amount: String(amount),
  symbol: 'SOL',
  decimals: 9,
})

async function events(id: string) {
  const { body } = await story.service.api<Schemas['Event'][]>('GET', `/events?transaction_id=${id}`)
  return body.data.map(({ payload }) => (payload.payload_type === 'transaction' ? payload.transfers : []))
}

test('a transfer is expected until a block tells it, and a fork takes that back', async () => {
  const { id, transfers, hash } = await story.send(transfer(1_000n))
  const expected = [{ ...paid(1_000), expected: true }]
  expect(transfers).toEqual(expected)
  await story.reach(id, 'submitted')
  story.solana.tick(3)
  await story.reach(id, 'mined')
  story.solana.tick()
  const told = await story.reach(id, 'mined', () => undefined)
  expect(told.transfers).toEqual([paid(1_000)])

  story.solana.fork(4)
  expect(story.solana.included(String(hash))).toBeUndefined()
  // Its node is behind the block that was seen until the new fork is longer.
  const { capacity } = story.solana.market
  story.solana.market.capacity = 0
  expect((await story.tickUntil(id, 'submitted')).transfers).toEqual(expected)
  story.solana.market.capacity = capacity
  const confirmed = await story.tickUntil(id, 'confirmed')
  expect(confirmed.transfers).toEqual([paid(1_000)])
  expect((await events(id)).at(-1)).toEqual([paid(1_000)])
  const query = `to=${RECEIVER}&asset=native&min_amount=1000&max_amount=1000`
  const { body } = await story.service.api<Transaction[]>('GET', `/transactions?${query}`)
  expect(body.data.map((one) => one.id)).toEqual([id])
})
