import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAcceptor } from '../../../src/transactions/accept/accept.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/actor.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

/** The cost of each request, in the smallest unit. */
const COST = 10n ** 18n

/** The default of `min_balance` keeps 1 in the account. */
const NEEDED = COST + 1n

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

test('a recent balance that is enough accepts a request, and no node is asked for another one', async () => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  stub.override = {
    recentBalance: async () => ({ kind: 'ok', value: NEEDED }),
    cost: () => COST,
    balance: async () => {
      throw new Error('nobody has to ask')
    },
  }
  const { transaction } = await createAcceptor(fixture.context)(owner.relayer, requestOf(), ACTOR)
  expect(transaction).toMatchObject({ status: 'pending', cost: COST })
})

test.each([
  { name: 'refuses when it is too low as well', present: { kind: 'ok', value: NEEDED - 1n }, refused: true },
  { name: 'accepts when it is enough', present: { kind: 'ok', value: NEEDED }, refused: false },
  { name: 'accepts when no node tells it', present: { kind: 'unknown', detail: 'silence' }, refused: false },
] as const)('a recent balance that is too low asks for the present one, which $name', async (one) => {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  stub.override = {
    recentBalance: async () => ({ kind: 'ok', value: NEEDED - 1n }),
    cost: () => COST,
    balance: async () => one.present,
  }
  const accepting = createAcceptor(fixture.context)(owner.relayer, requestOf(), ACTOR)
  if (one.refused) await expect(accepting).rejects.toMatchObject({ code: 'insufficient_balance' })
  else expect((await accepting).transaction.status).toBe('pending')
  const stored = await fixture.context.db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', '=', owner.relayer.id)
    .execute()
  expect(stored).toHaveLength(one.refused ? 0 : 1)
})
