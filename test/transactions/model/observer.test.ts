import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TransactionObserver } from '../../../src/transactions/model/observer.ts'
import type { TransactionsContext } from '../../../src/transactions/model/runtime.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveInOwnTransaction } from '../../../src/transactions/store/transactions-store.ts'
import { type Fixture, insert, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
let owner: TestAccount
let context: TransactionsContext
let told: string[]

beforeAll(async () => {
  fixture = await openFixture()
  owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const tell = (what: string) => (transactions: readonly Transaction[]) =>
    void told.push(...transactions.map(({ status }) => `${what} ${status}`))
  const observer: TransactionObserver = {
    created: tell('created'),
    submitted: tell('submitted'),
    finished: tell('finished'),
  }
  context = { ...fixture.context, observer }
})
afterAll(() => fixture.close())

test('what is made final is told of once, and nothing else', async () => {
  told = []
  const stored = await insert(fixture.context, newTransaction(owner), newTransaction(owner))
  const [waiting, failed] = stored
  if (waiting === undefined || failed === undefined) throw new Error('two were stored')
  await saveInOwnTransaction(context, [
    { ...waiting, statusReason: 'Waiting.' },
    { ...failed, status: 'failed' },
  ])
  expect(told).toEqual(['finished failed'])
})

test('what somebody else was faster with is not told of', async () => {
  told = []
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (stored === undefined) throw new Error('one was stored')
  const ended = { ...stored, status: 'expired' } as const
  await Promise.all([saveInOwnTransaction(context, [ended]), saveInOwnTransaction(context, [ended])])
  expect(told).toEqual(['finished expired'])
})

test('what is rolled back is not told of', async () => {
  told = []
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (stored === undefined) throw new Error('one was stored')
  const impossible = { ...stored, status: 'failed', cost: 'no number' as never } as const
  await expect(saveInOwnTransaction(context, [impossible])).rejects.toThrow()
  expect(told).toEqual([])
})
