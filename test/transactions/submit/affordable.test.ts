import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

test('a no-op that closes a nonce goes out without money; a request waits for it', async () => {
  const stub = createStubChain()
  stub.balance = { kind: 'ok', value: 0n }
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const [noop, request] = await insert(
    fixture.context,
    newTransaction(owner, { nonce: 0n, purpose: 'gap_filler' }),
    newTransaction(owner),
  )
  if (!noop || !request) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  expect((await reload(fixture.context, noop)).transaction.status).toBe('submitted')
  const { transaction } = await reload(fixture.context, request)
  expect(transaction.status).toBe('pending')
  expect(transaction.statusReason).toContain('Waiting for funds')
})
