import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { countTransactions } from '../../../src/transactions/store/finished-store.ts'
import { insertKeys } from '../../../src/transactions/store/idempotency-store.ts'
import { deleteOldTransactions } from '../../../src/transactions/store/retention-store.ts'
import { attemptOf, eip1559 } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const DAY_MS = 86_400_000
const days = (count: number) => new Date(Date.now() - count * DAY_MS)
const NOTHING = { transactions: 1_000_000, work: async () => {} }

const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })

/** Old final transactions without events, as they are when the retention of events is over. */
async function store(owner: TestAccount, ...changes: readonly Partial<Transaction>[]): Promise<string[]> {
  const old: Partial<Transaction> = { status: 'confirmed', createdAt: days(100), confirmedAt: days(100) }
  const stored = changes.map((change) => newTransaction(owner, { ...old, ...change }))
  await insert(fixture.context, ...stored)
  const ids = stored.map(({ id }) => id)
  // Times and losses of blocks are written later than a transaction.
  for (const { id, confirmedAt, reorganizedAt } of stored)
    await sql`
      update transactions set confirmed_at = ${confirmedAt ?? null}, reorganized_at = ${reorganizedAt ?? null}
      where id = ${id}`.execute(fixture.context.db)
  await sql`delete from events where transaction_id = any(${ids}::text[])`.execute(fixture.context.db)
  return ids
}

async function idsOf({ relayer }: TestAccount): Promise<string[]> {
  const rows = await fixture.context.db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', '=', relayer.id)
    .orderBy('position')
    .execute()
  return rows.map(({ id }) => id)
}

const total = ({ relayer }: TestAccount) =>
  countTransactions(fixture.context.db, { relayerIds: [relayer.id] })

test('old final transactions are deleted with everything of theirs, and no longer counted', async () => {
  const { db } = fixture.context
  const owner = await account()
  const [first = '', second = '', last = ''] = await store(
    owner,
    { nonce: 1n },
    { nonce: 2n, status: 'failed' },
    { nonce: 3n },
  )
  await db.transaction().execute(async (tx) => {
    await insertAttempts(tx, [{ transactionId: first, attempt: attemptOf(eip1559(1n, 1n)) }])
    await insertKeys(tx, owner.relayer.id, [
      { key: 'order', maker: 'shop', fingerprint: 'f', transactionId: first },
    ])
  })
  await sql`
    insert into operator_decisions (transaction_id, decision, undecided_since, reason, decided_by)
    values (${second}, 'not_included', now(), 'seen', 'root')`.execute(db)
  expect(await total(owner)).toBe(3)
  expect(await deleteOldTransactions(db, { before: days(90), afterMany: NOTHING })).toBe(2)
  // The highest nonce shows what the chain has used.
  expect(await idsOf(owner)).toEqual([last])
  expect(await total(owner)).toBe(1)
  for (const table of ['attempts', 'idempotency_keys', 'operator_decisions'] as const) {
    const left = await db
      .selectFrom(table)
      .select('transaction_id')
      .where('transaction_id', 'in', [first, second])
      .execute()
    expect(left).toEqual([])
  }
  const found =
    await sql`select from transaction_terms where relayer_id = ${owner.relayer.id} and term like 'to:%'`.execute(
      db,
    )
  expect(found.rows).toHaveLength(1)
})

test('a transaction stays while it is open, young, in an event, without its block, or in an unsettled budget', async () => {
  const { db } = fixture.context
  const owner = await account()
  const ids = await store(
    owner,
    { nonce: 1n, status: 'pending', confirmedAt: undefined },
    { nonce: 2n, createdAt: days(1), confirmedAt: days(1) },
    { nonce: 3n, confirmedAt: days(1) },
    { nonce: 4n, reorganizedAt: days(50) },
    { nonce: 5n },
    { nonce: 6n },
    { nonce: 7n },
  )
  const [told, charged, highest] = ids.slice(4)
  await sql`insert into events (transaction_id, type, payload) values (${told}, 'transaction_update', '{}')`.execute(
    db,
  )
  await sql`
    insert into spendings (transaction_id, subject, network, asset, at, most_value, most_fees, value, fees, count)
    values (${charged}, 'key:a', 'evm:testnet', 'native', now(), 1, 1, 1, 1, 1)`.execute(db)
  expect(await deleteOldTransactions(db, { before: days(90), afterMany: NOTHING })).toBe(0)
  expect(await idsOf(owner)).toEqual(ids)

  await sql`delete from events where transaction_id = ${told}`.execute(db)
  await sql`update spendings set settled = true where transaction_id = ${charged}`.execute(db)
  expect(await deleteOldTransactions(db, { before: days(90), afterMany: NOTHING })).toBe(2)
  expect(await idsOf(owner)).toEqual([...ids.slice(0, 4), highest])
})

test('transactions behind many that stay are found, page by page, and a deletion can end early', async () => {
  const { db } = fixture.context
  const owner = await account()
  // Further accounts have no nonces in common, and these have none at all.
  const kept = await store(owner, ...Array.from({ length: 250 }, () => ({ reorganizedAt: days(99) })))
  await store(owner, ...Array.from({ length: 450 }, () => ({})))
  let breaks = 0
  const afterMany = {
    transactions: 200,
    work: async () => {
      breaks += 1
    },
  }
  const ended = await deleteOldTransactions(db, { before: days(90), afterMany, isOver: () => breaks > 0 })
  expect(ended).toBeLessThan(450)
  expect(ended + (await deleteOldTransactions(db, { before: days(90), afterMany }))).toBe(450)
  expect(breaks).toBeGreaterThanOrEqual(2)
  expect(await idsOf(owner)).toEqual(kept)
  expect(await total(owner)).toBe(kept.length)
})

test('a transaction stays while another one waits for it, and the database refuses to delete it', async () => {
  const { db } = fixture.context
  const owner = await account()
  const [first = '', second = ''] = await store(owner, { nonce: 1n }, { nonce: 2n })
  const waiting = newTransaction(owner, { awaitsTransaction: first })
  await insert(fixture.context, waiting)
  await sql`delete from events where transaction_id = ${waiting.id}`.execute(db)
  expect(await deleteOldTransactions(db, { before: days(90), afterMany: NOTHING })).toBe(0)
  expect(await idsOf(owner)).toEqual([first, second, waiting.id])
  await expect(sql`delete from transactions where id = ${first}`.execute(db)).rejects.toThrow(
    /transactions_awaits_transaction_fkey/,
  )
  await sql`update transactions set awaits_transaction = null where id = ${waiting.id}`.execute(db)
  expect(await deleteOldTransactions(db, { before: days(90), afterMany: NOTHING })).toBe(1)
})
