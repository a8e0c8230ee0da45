import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { findTransaction, listTransactions } from '../../../src/transactions/store/lookups-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const MISSING = {
  kind: 'refused',
  refusal: { code: 'account_not_found', detail: 'There is no such account.' },
} as const

/** So that what its account sends is counted. */
const LIMITED = { rules: { limits: [{ per: 'day', asset: 'native', count: 1_000 }] } } as const

/** An account with two channels, on a chain that takes one transaction of each line at a time. */
async function setUp() {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub), policies: LIMITED, channels: 2 })
  const [own = '', ...channels] = owner.runtime.sourceAccounts.map(({ address }) => address)
  /** What the chain says to the nonce of an address; 0 when it is not here. */
  const nonces = new Map<string, Answer<bigint>>()
  stub.override = {
    sequencing: {
      maxInFlight: 1,
      nonces: async (addresses) =>
        addresses.map((address) => nonces.get(address) ?? { kind: 'ok', value: 0n }),
    },
    channels: { open: async (addresses) => requestOf({ value: 0n, data: `0x${addresses.length}` }) },
  }
  // Different amounts: the same content with the same nonce would be the same bytes.
  const accept = async (count: number) =>
    insert(
      fixture.context,
      ...Array.from({ length: count }, (_, index) =>
        newTransaction(owner, { request: requestOf({ value: BigInt(index + 1) }), nextRunAt: new Date(0) }),
      ),
    )
  const step = async (afterMs = 60_000) => {
    fixture.clock.advance(afterMs)
    await workAccount(fixture.context, owner.relayer.id)
  }
  const sourceAccountsOf = async (transactions: readonly Transaction[]) =>
    Promise.all(
      transactions.map(async (one) => {
        const { transaction, attempts } = await reload(fixture.context, one)
        expect(attempts.map(({ sourceAccount }) => sourceAccount)).toEqual(
          transaction.sourceAccount ? [transaction.sourceAccount] : [],
        )
        return transaction.sourceAccount
      }),
    )
  const setups = async () => {
    const { items } = await listTransactions(fixture.context.db, {
      relayerIds: [owner.relayer.id],
      offset: 0,
      limit: 100,
    })
    return items.map(({ transaction }) => transaction).filter(({ purpose }) => purpose === 'setup')
  }
  return { stub, owner, own, channels, nonces, accept, step, sourceAccountsOf, setups }
}

describe('several source accounts', () => {
  test('each gets one transaction, and the others wait for a free slot', async () => {
    const { own, channels, accept, step, sourceAccountsOf } = await setUp()
    const transactions = await accept(5)
    await step()
    expect(await sourceAccountsOf(transactions)).toEqual([own, ...channels, undefined, undefined])
    await step()
    expect((await sourceAccountsOf(transactions)).slice(3)).toEqual([undefined, undefined])
  })

  test('a slot is free again when the chain has decided', async () => {
    const { channels, accept, step, sourceAccountsOf } = await setUp()
    const transactions = await accept(4)
    await step()
    const [, second] = transactions
    if (!second) throw new Error('nothing was stored')
    const { transaction } = await reload(fixture.context, second)
    await fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, status: 'mined' }]))
    await step()
    expect((await sourceAccountsOf(transactions))[3]).toBe(channels[0])
  })

  test('one without an answer gets no transaction, and does not block the others (I6)', async () => {
    const { own, channels, nonces, accept, step, sourceAccountsOf } = await setUp()
    nonces.set(channels[0] ?? '', { kind: 'unknown', detail: 'time-out' })
    const transactions = await accept(3)
    await step()
    expect(await sourceAccountsOf(transactions)).toEqual([own, channels[1], undefined])
  })
})

describe('a setup transaction', () => {
  test('opens the missing source accounts once, while the others continue', async () => {
    const { own, channels, nonces, accept, step, sourceAccountsOf, setups } = await setUp()
    for (const address of channels) nonces.set(address, MISSING)
    const transactions = await accept(2)
    await step()
    expect(await sourceAccountsOf(transactions)).toEqual([own, undefined])
    await step()
    await step()
    expect(await setups()).toMatchObject([
      {
        status: 'pending',
        statusReason: 'Opens 2 channel accounts.',
        request: { data: '0x2' },
        isBudgeted: true,
      },
    ])
  })

  test('goes before everything that waits for it', async () => {
    const { stub, owner, own, channels, nonces, accept, step, sourceAccountsOf, setups } = await setUp()
    for (const address of channels) nonces.set(address, MISSING)
    const [first, second] = await accept(2)
    if (!first || !second) throw new Error('nothing was stored')
    await step()
    const { transaction } = await reload(fixture.context, first)
    await fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, status: 'mined' }]))
    nonces.set(own, { kind: 'ok', value: 1n })
    await step()
    const [setup] = await setups()
    if (!setup) throw new Error('there is no setup transaction')
    expect(setup).toMatchObject({ status: 'submitted', sourceAccount: own, nonce: 1n })
    expect(await sourceAccountsOf([second])).toEqual([undefined])
    const item = await findTransaction(fixture.context.db, owner.relayer.id, setup.id)
    expect(item?.attempts).toMatchObject([{ kind: 'setup' }])
    expect(stub.broadcasted.at(-1)).toBe(item?.attempts[0]?.signed.hash)
  })

  test('that failed is tried again only after a while', async () => {
    const { channels, nonces, accept, step, setups } = await setUp()
    for (const address of channels) nonces.set(address, MISSING)
    await accept(3)
    await step()
    const [setup] = await setups()
    if (!setup) throw new Error('there is no setup transaction')
    await fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...setup, status: 'failed' }]))
    await step(59_999)
    expect(await setups()).toHaveLength(1)
    await step(1)
    expect(await setups()).toHaveLength(2)
  })

  test('is of no use while the account itself is not there: everything waits, and says for what', async () => {
    const { stub, own, channels, nonces, accept, step, sourceAccountsOf, setups } = await setUp()
    for (const address of [own, ...channels]) nonces.set(address, MISSING)
    const transactions = await accept(2)
    await step()
    expect(await sourceAccountsOf(transactions)).toEqual([undefined, undefined])
    expect(await setups()).toEqual([])
    expect(stub.broadcasted).toEqual([])
    const [first] = transactions
    expect(first && (await reload(fixture.context, first)).transaction.statusReason).toBe(
      'Waiting for funds: There is no such account.',
    )
  })
})
