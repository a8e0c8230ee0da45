import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction, TransactionStatus } from '../../../src/transactions/model/transaction.ts'
import { countByStatus, countTransactions } from '../../../src/transactions/store/finished-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { type Fixture, insert, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
let owner: TestAccount
beforeAll(async () => {
  fixture = await openFixture()
  owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
})
afterAll(() => fixture.close())

const save = (transactions: readonly Transaction[]) =>
  fixture.context.db.transaction().execute((tx) => saveTransactions(tx, transactions))

const STATUSES: readonly TransactionStatus[] = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'canceled',
  'expired',
  'failed',
]

async function countOf(wanted: TransactionStatus): Promise<number> {
  const counts = await countByStatus(fixture.context.db, new Date())
  return counts.find(({ status }) => status === wanted)?.count ?? 0
}

/** Held against what counting every row says. */
async function expectExact(): Promise<void> {
  for (const status of [undefined, ...STATUSES]) {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) from transactions where relayer_id = ${owner.relayer.id}
        and (${status ?? null}::text is null or status = ${status ?? null})`.execute(fixture.context.db)
    const counted = await countTransactions(fixture.context.db, { relayerId: owner.relayer.id, status })
    expect({ status, counted }).toEqual({ status, counted: Number(rows[0]?.count) })
    if (status !== undefined) expect(await countOf(status)).toBe(counted)
  }
}

describe('the number of transactions', () => {
  test('is exact in every status, for rows that end together, alone, and not at all', async () => {
    const stored = await insert(fixture.context, ...Array.from({ length: 40 }, () => newTransaction(owner)))
    await expectExact()
    await save(stored.map((one, index) => ({ ...one, status: STATUSES[index % 8] ?? 'pending' })))
    await expectExact()
    await save([])
    await expectExact()
  })

  test('counts a row once when many say at the same time that it ended', async () => {
    const stored = await insert(fixture.context, newTransaction(owner), newTransaction(owner))
    const ended = stored.map((one): Transaction => ({ ...one, status: 'confirmed' }))
    await Promise.all(Array.from({ length: 8 }, () => save(ended)))
    await expectExact()
  })

  test('is that of before after a rollback', async () => {
    const [one] = await insert(fixture.context, newTransaction(owner))
    if (one === undefined) throw new Error('nothing was stored')
    const rolledBack = fixture.context.db.transaction().execute(async (tx) => {
      await saveTransactions(tx, [{ ...one, status: 'failed' }])
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await expectExact()
  })

  test('knows rows that are final from the start, and nothing of other relayers', async () => {
    const other = await fixture.addAccount({ chain: chainOf(createStubChain()) })
    await insert(fixture.context, { ...newTransaction(owner), status: 'failed' })
    await insert(fixture.context, { ...newTransaction(other), status: 'failed' })
    await expectExact()
  })
})
