import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer } from '../../src/chains/answer.ts'
import { getAccountState } from '../../src/transactions/account-state.ts'
import { type Fixture, openFixture } from './fixture.ts'
import { chainOf, createStubChain, type StubChain } from './stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

async function stateWith(change: Partial<StubChain>, nextNonce?: bigint) {
  const stub = Object.assign(createStubChain(), change)
  const { relayer } = await fixture.addAccount({ chain: chainOf(stub) })
  if (nextNonce !== undefined)
    await fixture.database.db
      .updateTable('accounts')
      .set({ next_nonce: nextNonce })
      .where('relayer_id', '=', relayer.id)
      .execute()
  return getAccountState(fixture.context, relayer)
}

const silent: Answer<bigint> = { kind: 'unknown', detail: 'no endpoint answered' }

test.each([
  { name: 'the counter when it is higher', counter: 7n, chain: 5n, want: 7n },
  { name: 'the nonce of the chain when that is higher', counter: 5n, chain: 7n, want: 7n },
  { name: 'either when they are equal', counter: 6n, chain: 6n, want: 6n },
  { name: 'the nonce of the chain without a counter', counter: undefined, chain: 4n, want: 4n },
])('the next nonce is $name', async ({ counter, chain, want }) => {
  const state = await stateWith({ nonce: { kind: 'ok', value: chain } }, counter)
  expect(state).toMatchObject({ nextNonce: want, chainNonce: chain, logs: [] })
})

test('what no endpoint tells is left out, and the logs say so', async () => {
  const refused = { kind: 'refused', refusal: { code: 'account_not_found', detail: 'It is new.' } } as const
  const state = await stateWith({ nonce: silent, balance: refused }, 3n)
  expect(state).toMatchObject({ nextNonce: 3n, chainNonce: undefined, balance: undefined })
  expect(state.logs).toEqual([
    'The balance is not known: It is new.',
    'The nonce is not known: no endpoint answered.',
  ])
})

test('without a counter and without an endpoint there is no next nonce', async () => {
  expect((await stateWith({ nonce: silent })).nextNonce).toBeUndefined()
})
