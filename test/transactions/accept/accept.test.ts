import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAcceptor } from '../../../src/transactions/accept/accept.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

test('a request that is refused because its twin was accepted meanwhile gets the transaction of its twin', async () => {
  const stub = createStubChain()
  const chain = chainOf(stub)
  const owner = await fixture.addAccount({ chain })
  const accept = createAcceptor(fixture.context)
  const idempotencyKey = { key: 'one', fingerprint: 'same' }
  const arrived = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  stub.override = {
    prepare: async () => {
      arrived.resolve()
      await release.promise
      return { kind: 'refused', refusal: { code: 'execution_reverted', detail: 'The money is spent.' } }
    },
  }
  const late = accept(owner.relayer, requestOf(), idempotencyKey)
  await arrived.promise
  stub.override = {}
  const first = await accept(owner.relayer, requestOf(), idempotencyKey)
  release.resolve()
  expect((await late).transaction.id).toBe(first.transaction.id)
})
