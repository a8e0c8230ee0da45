import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TransactionObserver } from '../../../src/transactions/model/observer.ts'
import type { TransactionsContext } from '../../../src/transactions/model/runtime.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveInOwnTransaction } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
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
    paid: (payments) => void told.push(...payments.map(({ fee }) => `paid ${fee}`)),
  }
  context = { ...fixture.context, observer }
})
afterAll(() => fixture.close())

test('transactions that become final are reported once, and no others', async () => {
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

test('a transaction that another writer changed first is not reported', async () => {
  told = []
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (stored === undefined) throw new Error('one was stored')
  const ended = { ...stored, status: 'expired' } as const
  await Promise.all([saveInOwnTransaction(context, [ended]), saveInOwnTransaction(context, [ended])])
  expect(told).toEqual(['finished expired'])
})

test('a rolled back change is not reported', async () => {
  told = []
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (stored === undefined) throw new Error('one was stored')
  const impossible = { ...stored, status: 'failed', cost: 'no number' as never } as const
  await expect(saveInOwnTransaction(context, [impossible])).rejects.toThrow()
  expect(told).toEqual([])
})

test('a transaction is reported as submitted at its first broadcast, and not again', async () => {
  told = []
  const stub = createStubChain()
  const sender = await fixture.addAccount({ chain: chainOf(stub) })
  await insert(fixture.context, newTransaction(sender))
  await workAccount(context, sender.relayer.id)
  expect(told).toEqual(['submitted submitted'])
  fixture.clock.advance(31_000)
  await workAccount(context, sender.relayer.id)
  expect(stub.broadcasted).toHaveLength(2)
  expect(told).toEqual(['submitted submitted'])
})

test('a transaction that no node accepts is not reported as submitted', async () => {
  told = []
  const stub = createStubChain()
  stub.answerBroadcast = () => ({ kind: 'later', detail: 'the pool is full' })
  const sender = await fixture.addAccount({ chain: chainOf(stub) })
  await insert(fixture.context, newTransaction(sender))
  await workAccount(context, sender.relayer.id)
  expect(stub.broadcasted).toHaveLength(1)
  expect(told).toEqual([])
})
