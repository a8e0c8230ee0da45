import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAcceptor } from '../../../src/transactions/accept/accept.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/actor.ts'
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
  const late = accept(owner.relayer, requestOf(), ACTOR, idempotencyKey)
  await arrived.promise
  stub.override = {}
  const first = await accept(owner.relayer, requestOf(), ACTOR, idempotencyKey)
  release.resolve()
  expect((await late).transaction.id).toBe(first.transaction.id)
})

test('what no endpoint can simulate now is accepted, and the answer says so', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  stub.override = { prepare: async () => ({ kind: 'unknown', detail: 'no endpoint answers' }) }
  const { transaction, logs } = await createAcceptor(fixture.context)(owner.relayer, requestOf(), ACTOR)
  expect(transaction.status).toBe('pending')
  expect(logs).toEqual(['Not simulated yet: no endpoint answers. The service simulates it before signing.'])
})

test.each([
  ['a paused relayer', { paused: true }, {}, 'relayer_paused'],
  ['a relayer that the service disabled', { systemDisabled: true }, {}, 'relayer_disabled'],
  ['a valid_until that has passed', {}, { validUntil: new Date(0) }, 'valid_until_in_past'],
] as const)('%s refuses a request', async (_name, relayer, request, code) => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const accepting = createAcceptor(fixture.context)(
    { ...owner.relayer, ...relayer },
    requestOf(request),
    ACTOR,
  )
  await expect(accepting).rejects.toMatchObject({ code })
})
