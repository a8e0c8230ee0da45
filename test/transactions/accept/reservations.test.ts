import { afterAll, beforeAll, expect, test } from 'vitest'
import { admitCandidates, type Candidate } from '../../../src/transactions/accept/admit.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { ACTOR } from '../../support/actor.ts'
import { type Fixture, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const addAccount = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

function candidateOf(owner: TestAccount, cost: bigint, balance: bigint | undefined): Candidate {
  const transaction = newTransaction(owner, { cost })
  return { relayer: owner.relayer, transaction, balance, actor: ACTOR, idempotencyKey: undefined }
}

/** Sends one transaction of this cost, and tells the decision. */
async function send(owner: TestAccount, cost: bigint, balance: bigint | undefined) {
  const candidate = candidateOf(owner, cost, balance)
  const [decision] = await admitCandidates(fixture.context, [candidate])
  return { kind: decision?.kind, transaction: candidate.transaction }
}

/** Changes a transaction as a step of the service does. */
async function change(transaction: Transaction, to: Partial<Transaction>): Promise<Transaction> {
  const { db } = fixture.context
  const [saved] = await db.transaction().execute((tx) => saveTransactions(tx, [{ ...transaction, ...to }]))
  if (saved === undefined) throw new Error('the transaction changed meanwhile')
  return saved
}

test('what is written since the sum was read counts: no money is promised twice', async () => {
  const owner = await addAccount()
  expect(await send(owner, 50n, 200n)).toMatchObject({ kind: 'admitted' })
  const { kind, transaction } = await send(owner, 50n, 200n)
  expect(kind).toBe('admitted')
  // A higher fee reserves more.
  await change(transaction, { cost: 120n })
  expect(await send(owner, 50n, 200n)).toMatchObject({ kind: 'refused' })
  expect(await send(owner, 29n, 200n)).toMatchObject({ kind: 'admitted' })
})

test('a transaction that ended reserves nothing', async () => {
  const owner = await addAccount()
  for (let round = 0; round < 5; round += 1) {
    const { kind, transaction } = await send(owner, 60n, 100n)
    expect(kind).toBe('admitted')
    expect(await send(owner, 60n, 100n)).toMatchObject({ kind: 'refused' })
    await change(transaction, { status: 'canceled' })
  }
})

test('a transaction that a reorganisation brings back reserves its cost again', async () => {
  const owner = await addAccount()
  const { transaction } = await send(owner, 60n, 100n)
  const sent = await change(transaction, { status: 'sent' })
  const mined = await change(sent, { status: 'mined' })
  expect(await send(owner, 30n, 100n)).toMatchObject({ kind: 'admitted' })
  await change(mined, { status: 'submitted' })
  expect(await send(owner, 30n, 100n)).toMatchObject({ kind: 'refused' })
  expect(await send(owner, 9n, 100n)).toMatchObject({ kind: 'admitted' })
})

test('what becomes active by the time alone counts from then on', async () => {
  const owner = await addAccount()
  const validFrom = new Date(fixture.clock.now() + 60_000)
  const later = newTransaction(owner, { cost: 60n })
  const scheduled = { ...later, request: { ...later.request, validFrom } }
  const scheduledCandidate = { ...candidateOf(owner, 60n, 100n), transaction: scheduled }
  expect(await send(owner, 20n, 100n)).toMatchObject({ kind: 'admitted' })
  expect(await admitCandidates(fixture.context, [scheduledCandidate])).toMatchObject([{ kind: 'admitted' }])
  expect(await send(owner, 50n, 100n)).toMatchObject({ kind: 'admitted' })
  fixture.clock.advance(60_000)
  expect(await send(owner, 1n, 100n)).toMatchObject({ kind: 'refused' })
  expect(await send(owner, 1n, 132n)).toMatchObject({ kind: 'admitted' })
})
