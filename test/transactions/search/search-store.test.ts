import { encodeFunctionData, erc1155Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALL_RELAYERS } from '../../../src/access/principal.ts'
import { transact } from '../../../src/database/locks/transact.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { findPosition } from '../../../src/transactions/search/positions-store.ts'
import { searchTransactions, type TransactionSearch } from '../../../src/transactions/search/search-store.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'
import { collectPages, visibilityOf } from './search.ts'

const TOKEN = `0x${'Cc'.repeat(20)}`
const PAYEE = `0x${'Dd'.repeat(20)}`
const LARGEST = 2n ** 256n - 1n

/** All of a token, to a receiver. */
const PAYMENT = requestOf({
  to: TOKEN,
  value: 0n,
  data: `0xa9059cbb${PAYEE.slice(2).padStart(64, '0')}${LARGEST.toString(16)}`,
})

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

const find = (search: Partial<TransactionSearch>) =>
  searchTransactions(fixture.context.db, { visibility: ALL_RELAYERS, limit: 100, ...search })

const idsOf = async (search: Partial<TransactionSearch>) =>
  (await find(search)).items.map(({ transaction }) => transaction.id)

const collect = (search: Partial<TransactionSearch>, between?: () => Promise<unknown>) =>
  collectPages(fixture.context.db, search, between)

/** Stores transactions of several relayers in turn, and returns their ids, newest first. */
async function storeInTurn(owners: readonly TestAccount[], rounds: number): Promise<string[]> {
  const all = Array.from({ length: rounds }, () => owners.map((owner) => newTransaction(owner))).flat()
  await insert(fixture.context, ...all)
  return all.map(({ id }) => id).reverse()
}

describe('a search', () => {
  test('goes through the transactions of all visible relayers in the order of acceptance', async () => {
    const owners = await Promise.all([account(), account(), account()])
    const ids = await storeInTurn(owners, 7)
    const pages = await collect({ visibility: visibilityOf(...owners), limit: 5 })
    expect(pages.flat()).toEqual(ids)
    expect(pages.map(({ length }) => length)).toEqual([5, 5, 5, 5, 1])
  })

  test('shows nothing of hidden relayers, whatever the filter', async () => {
    const [visible, hidden] = await Promise.all([account(), account()])
    const ids = await storeInTurn([visible, hidden], 3)
    const visibility = visibilityOf(visible)
    expect(await idsOf({ visibility })).toHaveLength(3)
    expect(await idsOf({ visibility, relayerId: hidden.relayer.id })).toEqual([])
    const [ofHidden = ''] = ids
    expect(await idsOf({ visibility, id: ofHidden })).toEqual([])
    expect(await idsOf({ visibility: ALL_RELAYERS, id: ofHidden })).toEqual([ofHidden])
    expect(await findPosition(fixture.context.db, ofHidden, visibility)).toBeUndefined()
    expect(await findPosition(fixture.context.db, ofHidden, ALL_RELAYERS)).toBeTypeOf('bigint')
  })

  test('gives each transaction once while others are accepted', async () => {
    const owners = await Promise.all([account(), account()])
    const ids = await storeInTurn(owners, 10)
    const pages = await collect({ visibility: visibilityOf(...owners), limit: 3 }, () =>
      storeInTurn(owners, 2),
    )
    expect(pages.flat()).toEqual(ids)
  })

  test('has no next page after a page that is full exactly', async () => {
    const owner = await account()
    await storeInTurn([owner], 4)
    expect(
      (await collect({ visibility: visibilityOf(owner), limit: 2 })).map(({ length }) => length),
    ).toEqual([2, 2])
  })

  test('finds every hash of a transaction', async () => {
    const owner = await account()
    const [transaction] = await insert(fixture.context, newTransaction(owner))
    if (transaction === undefined) throw new Error('nothing was stored')
    const hashes = [`0x${'a1'.repeat(32)}`, `0x${'a2'.repeat(32)}`]
    await fixture.context.db.transaction().execute((tx) =>
      insertAttempts(
        tx,
        hashes.map((hash, index) => {
          const attempt = attemptOf(eip1559(10n, 1n), { number: index + 1 })
          return {
            transactionId: transaction.id,
            attempt: { ...attempt, signed: { ...attempt.signed, hash } },
          }
        }),
      ),
    )
    for (const hash of hashes) expect(await idsOf({ hash })).toEqual([transaction.id])
    const other = await account()
    expect(await idsOf({ hash: hashes[0], visibility: visibilityOf(other) })).toEqual([])
    expect(await idsOf({ hash: `0x${'a3'.repeat(32)}` })).toEqual([])
  })

  test.each<[string, Partial<Transaction>, Partial<TransactionSearch>]>([
    ['status', {}, { status: 'pending' }],
    ['network type', {}, { networkType: 'evm' }],
    ['receiver', { request: requestOf({ to: `0x${'Ab'.repeat(20)}` }) }, { to: `0x${'ab'.repeat(20)}` }],
    ['receiver of a token', { request: PAYMENT }, { to: PAYEE }],
    ['called contract', { request: PAYMENT }, { to: TOKEN }],
    ['asset', { request: PAYMENT }, { asset: TOKEN }],
    [
      'native currency',
      { request: requestOf({ value: 5n }) },
      { asset: 'native', minAmount: 5n, maxAmount: 5n },
    ],
    ['receiver and asset', { request: PAYMENT }, { to: PAYEE.toLowerCase(), asset: TOKEN.toLowerCase() }],
    ['amount', { request: PAYMENT }, { asset: TOKEN, minAmount: LARGEST, maxAmount: LARGEST }],
    ['amount to a receiver', { request: PAYMENT }, { to: PAYEE, asset: TOKEN, minAmount: 2n ** 128n }],
    ['reference', { reference: 'invoice:7' }, { reference: 'invoice:7' }],
    ['user', { userId: 'user-7' }, { userId: 'user-7' }],
    ['API key', { requestedBy: 'key-7' }, { requestedBy: 'key-7' }],
    [
      'reference and user and API key and receiver',
      { reference: 'r', userId: 'u', requestedBy: 'k', request: PAYMENT },
      { reference: 'r', userId: 'u', requestedBy: 'k', to: PAYEE },
    ],
  ])('narrows the list by %s', async (_name, change, filter) => {
    const owner = await account()
    const visibility = visibilityOf(owner)
    const fitting = newTransaction(owner, change)
    await insert(fixture.context, newTransaction(owner, { createdAt: new Date('2019-12-31') }), fitting)
    expect(await idsOf({ visibility, ...filter })).toContain(fitting.id)
    const others: Partial<TransactionSearch>[] = [
      { status: 'sent' },
      { networkType: 'stellar' },
      { to: `0x${'cd'.repeat(20)}` },
      { to: filter.to ?? PAYEE, asset: PAYEE },
      { asset: filter.asset ?? TOKEN, minAmount: 6n, maxAmount: 7n },
      { reference: 'invoice:8' },
      { reference: 'INVOICE:7' },
      { userId: 'user-8' },
      { requestedBy: 'key-8' },
      { createdBefore: new Date('2019-12-31') },
    ]
    for (const other of others) expect(await idsOf({ visibility, ...filter, ...other })).toEqual([])
  })
})

test('a time narrows the list exactly, however many transactions are before and after it', async () => {
  const ofDays = await openFixture()
  const owner = await ofDays.addAccount({ chain: chainOf(createStubChain()) })
  const at = (hour: number, minute = 0) => new Date(Date.UTC(2020, 0, 1, hour, minute))
  const accepted = Array.from({ length: 48 }, (_, hour) => newTransaction(owner, { createdAt: at(hour) }))
  // Two requests of the same time can be stored in any order.
  const [early, late] = [
    newTransaction(owner, { createdAt: at(9, 59) }),
    newTransaction(owner, { createdAt: at(10, 1) }),
  ]
  await insert(ofDays.context, ...accepted.slice(0, 10), late, early, ...accepted.slice(10))
  const idsIn = async (period: Partial<TransactionSearch>) => {
    const search = { visibility: ALL_RELAYERS, limit: 100, ...period }
    return (await searchTransactions(ofDays.context.db, search)).items.map(
      ({ transaction }) => transaction.id,
    )
  }
  expect(await idsIn({ createdFrom: at(10), createdBefore: at(12) })).toEqual(
    [late, accepted[10], accepted[11]].map((one) => one?.id).reverse(),
  )
  expect(await idsIn({ createdBefore: at(1) })).toEqual([accepted[0]?.id])
  expect(await idsIn({ createdFrom: at(47) })).toEqual([accepted[47]?.id])
  expect(await idsIn({ createdFrom: at(9, 59), createdBefore: at(10) })).toEqual([early.id])
  expect(await idsIn({ createdFrom: at(48) })).toEqual([])
  await ofDays.close()
})

test('a batch of a thousand transfers in one call is found by the first hundred, once each', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const batch = (receiver: string, count: number) =>
    encodeFunctionData({
      abi: erc1155Abi,
      functionName: 'safeBatchTransferFrom',
      args: [
        TOKEN.toLowerCase(),
        receiver as Hex,
        ...[0n, 1n].map((from) => Array.from({ length: count }, (_, at) => BigInt(at) + from)),
        '0x',
      ] as never,
    })
  const [many, few] = [200, 2].map((count) =>
    newTransaction(owner, {
      request: requestOf({ to: TOKEN, value: 0n, data: batch(PAYEE.toLowerCase(), count) }),
    }),
  ) as [Transaction, Transaction]
  await insert(fixture.context, many, few)
  const search = { visibility: visibilityOf(owner), to: PAYEE, limit: 1 }
  const pages = await collectPages(fixture.context.db, search)
  expect(pages.flat()).toEqual([few.id, many.id])
  expect(
    (await collectPages(fixture.context.db, { ...search, asset: TOKEN, minAmount: 100n })).flat(),
  ).toEqual([many.id])
  expect(
    (await collectPages(fixture.context.db, { ...search, asset: TOKEN, minAmount: 101n })).flat(),
  ).toEqual([])
})

test('a replaced transaction is found by both contents, and a canceled one goes on being found', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { context } = fixture
  const [stored] = await insert(context, newTransaction(owner, { request: PAYMENT }))
  if (stored === undefined) throw new Error('nothing was stored')
  const other = `0x${'ef'.repeat(20)}`
  const replaced = { ...stored, request: requestOf({ to: other, value: 9n }) }
  await transact(context.db, (tx) => saveTransactions(tx, [replaced]))
  const found = async (search: Partial<TransactionSearch>) =>
    (await collectPages(context.db, { visibility: visibilityOf(owner), ...search })).flat()
  for (const search of [{ to: PAYEE }, { to: other }, { asset: 'native', maxAmount: 9n }])
    expect(await found(search)).toEqual([stored.id])
})
