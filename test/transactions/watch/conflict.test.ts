import { afterAll, beforeAll, expect, test } from 'vitest'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

// Found by the simulator (seed 8 on a busy machine): a record that is offered again each second was never given up.
test('a lost nonce that is proven while the record changes is written at the next look, not after another wait', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub), policies: { sharedAccount: true } })
  const memory = createWatchMemory()
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (!stored) throw new Error('nothing was stored')
  fixture.clock.advance(1_000)
  await workAccount(fixture.context, owner.relayer.id)
  const look = (height: bigint) => {
    stub.head = headAt(height)
    return watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  }
  stub.nonce = { kind: 'ok', value: 1n }
  await look(100n)
  fixture.clock.advance(31_000)
  stub.override = {
    proveInclusion: async () => {
      const { transaction } = await reload(fixture.context, stored)
      await fixture.database.db.transaction().execute((tx) => saveTransactions(tx, [transaction]))
      return { kind: 'absent' }
    },
  }
  await look(103n)
  expect((await reload(fixture.context, stored)).transaction.status).toBe('submitted')
  stub.override = {}
  await look(103n)
  expect((await reload(fixture.context, stored)).transaction.status).toBe('pending')
})

// Found by the simulator on Stellar (seed 7): behind a slow node each look took longer than the second between two offers.
test('a rebroadcast without a new result does not prevent a decision of the chain', async () => {
  const stub = createStubChain()
  stub.answerBroadcast = () => ({ kind: 'later', detail: 'not yet' })
  const owner = await fixture.addAccount({ chain: chainOf(stub), policies: { sharedAccount: true } })
  const memory = createWatchMemory()
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (!stored) throw new Error('nothing was stored')
  const answerBroadcast = async () => {
    fixture.clock.advance(1_000)
    await workAccount(fixture.context, owner.relayer.id)
  }
  await answerBroadcast()
  await answerBroadcast()
  const { transaction } = await reload(fixture.context, stored)
  stub.nonce = { kind: 'ok', value: 1n }
  include(stub, stub.broadcasted[0] ?? '')
  stub.override = {
    receipts: async (hashes) => {
      await answerBroadcast()
      return hashes.map((hash) => stub.receipts.get(hash) ?? { kind: 'none' })
    },
  }
  await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  expect(stub.broadcasted).toHaveLength(3)
  const { transaction: seen } = await reload(fixture.context, stored)
  expect(seen).toMatchObject({ status: 'mined', version: transaction.version + 1 })
})
