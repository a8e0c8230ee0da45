import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include } from '../stub-chain.ts'

const COUNT = 450

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ maxInFlight: COUNT })
})
afterAll(() => fixture.close())

/** Endpoints that answer one request for the receipts of many transactions in each round, and then no other one. */
test('what slow endpoints answered in a round is final, and the next round goes on from there', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  await insert(
    fixture.context,
    ...Array.from({ length: COUNT }, () => newTransaction(owner, { nextRunAt: new Date(0) })),
  )
  await workAccount(fixture.context, owner.relayer.id)
  for (const hash of stub.broadcasted) include(stub, hash)
  stub.nonce = { kind: 'ok', value: BigInt(COUNT) }
  const memory = createWatchMemory()
  const look = async (height: bigint) => {
    stub.head = headAt(height)
    await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  }
  await look(100n)
  const rounds: number[] = []
  for (const height of [110n, 111n, 112n]) {
    let answered = false
    stub.override = {
      endpoints: () => [{}, {}] as never,
      receiptsEverywhere: async (hashes) => {
        if (answered) throw new Error('the round ends here')
        answered = true
        return [hashes, hashes].map((some) => some.map((hash) => stub.receipts.get(hash) ?? { kind: 'none' }))
      },
    }
    await look(height).catch(() => undefined)
    rounds.push(await countConfirmed(owner.relayer.id))
  }
  expect(rounds).toEqual([200, 400, COUNT])
})

async function countConfirmed(relayerId: string): Promise<number> {
  const rows = await fixture.database.db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', '=', relayerId)
    .where('status', '=', 'confirmed')
    .execute()
  return rows.length
}
