import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('what a block holds is not proved to be absent in the same look, and that look is enough', async () => {
  const stub = createStubChain()
  const chain = chainOf(stub)
  const owner = await fixture.addAccount({ chain })
  const { sign } = chainOf(createStubChain())
  const everywhere: string[] = []
  stub.override = {
    sequencing: undefined,
    blockFinality: undefined,
    expiry: { hasExpired: async () => true, reSignable: () => true },
    sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
    proveInclusion: async (attempts) => {
      everywhere.push(...attempts.map(({ signed }) => signed.hash))
      return { kind: 'absent' }
    },
  }
  const [stored] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!stored) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  const [hash = ''] = stub.broadcasted
  include(stub, hash, { final: false })
  const memory = createWatchMemory()
  stub.head = headAt(101n)
  await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  expect((await reload(fixture.context, stored)).transaction.status).toBe('mined')
  expect(everywhere).toEqual([])
  expect(memory.settledAt).toBe('0xhead101')
})
