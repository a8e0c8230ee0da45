import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReceiptAnswer } from '../../../src/chains/answer.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { combineReceipts } from '../combine-receipts.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt } from '../stub-chain.ts'

/** The time in ms until "used elsewhere" is believed. */
const MISSING_MS = 30_000

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/**
 * One transaction whose nonce is used, without a receipt at the endpoint that is asked, for long enough to be believed; and
 * what all endpoints together say of it.
 */
async function judged(everywhere: (hash: string) => ReceiptAnswer) {
  const stub = createStubChain()
  const chain = chainOf(stub)
  const policies = { sharedAccount: true }
  const [neighbour, owner] = [
    await fixture.addAccount({ chain, policies }),
    await fixture.addAccount({ chain, policies }),
  ]
  const [transaction] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!transaction) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  const asked: (bigint | undefined)[] = []
  stub.nonce = { kind: 'ok', value: 1n }
  stub.override = {
    proveInclusion: async (attempts, { asOf } = {}) => {
      asked.push(asOf)
      return combineReceipts(
        attempts,
        attempts.map(({ signed }) => everywhere(signed.hash)),
      )
    },
  }
  // One look is for all relayers of the network, with the operator of any of them.
  const relayers = [neighbour.relayer, owner.relayer]
  const target = { runtime: neighbour.runtime, relayers, memory: createWatchMemory() }
  for (const height of [100n, 101n, 102n, 103n]) {
    stub.head = headAt(height)
    await watchNetwork(fixture.context, target)
    await watchNetwork(fixture.context, target)
    fixture.clock.advance(MISSING_MS)
  }
  return { item: await reload(fixture.context, transaction), asked }
}

test('one endpoint says yes where another says no: included (R6)', async () => {
  const { item } = await judged((hash) => ({
    kind: 'included',
    receipt: { hash, blockNumber: 99n, blockHash: '0xblock99', success: true, gasUsed: 21_000n },
  }))
  expect(item.transaction).toMatchObject({ status: 'mined', block: { number: 99n } })
  expect(item.attempts.map(({ outcome }) => outcome)).toEqual(['mined'])
})

test('one endpoint does not answer: nothing is decided, and it is asked again', async () => {
  const { item, asked } = await judged(() => ({ kind: 'unknown' }))
  expect(item.transaction.status).toBe('submitted')
  expect(item.attempts.map(({ outcome }) => outcome)).toEqual(['broadcast'])
  // At one of two looks at the same time: a proof asks every endpoint for much.
  expect(asked).toEqual([103n])
})

test('when all endpoints at the head say no, another program has used the nonce', async () => {
  const { item, asked } = await judged(() => ({ kind: 'none' }))
  expect(asked[0]).toBe(103n)
  expect(item.attempts.map(({ outcome }) => outcome)).toEqual(['superseded'])
  expect(item.transaction).toMatchObject({ status: 'pending', nonce: undefined, sourceAccount: undefined })
})
