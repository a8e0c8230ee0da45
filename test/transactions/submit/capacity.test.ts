import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ maxInFlight: 2 })
})
afterAll(() => fixture.close())

test('the in-flight limit holds where transactions have no nonces', async () => {
  const stub = createStubChain()
  const { sign } = chainOf(createStubChain())
  stub.override = {
    sequencing: undefined,
    blockFinality: undefined,
    expiry: { hasExpired: async () => false, reSignable: () => true },
    sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
  }
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const stored = await insert(
    fixture.context,
    ...[1n, 2n, 3n].map((value) => newTransaction(owner, { request: requestOf({ value }) })),
  )
  await workAccount(fixture.context, owner.relayer.id)
  const now = await Promise.all(stored.map((one) => reload(fixture.context, one)))
  expect(now.map(({ transaction }) => transaction.status)).toEqual(['submitted', 'submitted', 'pending'])
})
