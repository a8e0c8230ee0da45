import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { TransactionStatus } from '../../../src/transactions/model/transaction.ts'
import { getAccountState } from '../../../src/transactions/requests/account-state.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain, type StubChain } from '../stub-chain.ts'

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

test('the open transactions and the last confirmation come from the database', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const read = () => getAccountState(fixture.context, owner.relayer)
  expect(await read()).toMatchObject({ open: 0, balance: 10n ** 20n })
  expect(await read()).toMatchObject({ lastConfirmedAt: undefined, oldestOpenAt: undefined })
  const of = (...statuses: readonly TransactionStatus[]) =>
    statuses.map((status) => newTransaction(owner, { status }))
  const [first, second, pending] = await insert(
    fixture.context,
    ...of('confirmed', 'confirmed', 'pending', 'sent', 'submitted', 'mined', 'failed'),
  )
  if (!first || !second) throw new Error('nothing was stored')
  const [newest, oldest] = [new Date('2100-01-01T00:00:02.000Z'), new Date('2100-01-01T00:00:01.000Z')]
  await fixture.database.db.transaction().execute((tx) =>
    saveTransactions(tx, [
      { ...first, confirmedAt: newest },
      { ...second, confirmedAt: oldest },
    ]),
  )
  expect(await read()).toMatchObject({ open: 3, oldestOpenAt: pending?.createdAt, lastConfirmedAt: newest })
})

test('what waits for an approval or for its time is counted apart, and is not the oldest', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const now = fixture.clock.now()
  const ago = (seconds: number) => new Date(now - seconds * 1_000)
  const from = (validFrom: Date) => ({ ...requestOf(), validFrom })
  const state = () => getAccountState(fixture.context, owner.relayer)
  await insert(
    fixture.context,
    newTransaction(owner, { createdAt: ago(900), awaitsApproval: true }),
    newTransaction(owner, { createdAt: ago(800), request: from(ago(-60)) }),
  )
  expect(await state()).toMatchObject({ open: 2, deferred: 2, oldestOpenAt: undefined })
  await insert(
    fixture.context,
    newTransaction(owner, { createdAt: ago(700), request: from(ago(20)) }),
    newTransaction(owner, { createdAt: ago(10) }),
  )
  expect(await state()).toMatchObject({ open: 4, deferred: 2, oldestOpenAt: ago(20) })
})

test('what the network does not tell within five seconds is left out, and the logs say so', async () => {
  const stub = createStubChain()
  const never = new Promise<never>(() => {})
  stub.override = { balance: () => never, sequencing: { nonces: () => never } }
  const { relayer } = await fixture.addAccount({ chain: chainOf(stub) })
  const reading = getAccountState(fixture.context, relayer)
  await expect.poll(() => fixture.clock.waiting).toBe(2)
  fixture.clock.advance(4_999)
  expect(fixture.clock.waiting).toBe(2)
  fixture.clock.advance(1)
  const state = await reading
  expect(state).toMatchObject({ balance: undefined, chainNonce: undefined, nextNonce: undefined, open: 0 })
  expect(state.logs).toEqual([
    'The balance is not known: no endpoint answered in time.',
    'The nonce is not known: no endpoint answered in time.',
  ])
})

test('a chain without nonces has no next nonce and no sentence about it', async () => {
  const stub = createStubChain()
  stub.override = { sequencing: undefined }
  const { relayer } = await fixture.addAccount({ chain: chainOf(stub) })
  const state = await getAccountState(fixture.context, relayer)
  expect(state).toMatchObject({ nextNonce: undefined, chainNonce: undefined, logs: [] })
})

test('an empty answer about the nonce is none', async () => {
  const stub = createStubChain()
  const asked: unknown[] = []
  stub.override = {
    sequencing: {
      nonces: async (addresses) => {
        asked.push(addresses)
        return []
      },
    },
  }
  const { relayer } = await fixture.addAccount({ chain: chainOf(stub) })
  const { logs } = await getAccountState(fixture.context, relayer)
  expect(logs).toEqual(['The nonce is not known: no endpoint answered.'])
  expect(asked).toEqual([[relayer.address]])
})
