import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db } from '../../../src/database/db.ts'
import { findDueRelayers, hasDuePending } from '../../../src/transactions/store/due-store.ts'
import { findSubmittable } from '../../../src/transactions/store/queue-store.ts'
import { type Fixture, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
let owner: TestAccount
let now: Date

/** There are 100,000 pending transactions of one relayer. Ten have their nonce, and ten are setup transactions. */
beforeAll(async () => {
  fixture = await openFixture()
  const { db, clock } = fixture.context
  owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  now = new Date(clock.now())
  await sql`
    insert into transactions
      (id, relayer_id, network, from_address, status, purpose, request, created_at, next_run_at, nonce,
        source_account)
    select 'many-' || number, ${owner.relayer.id}, 'testnet', '0x', 'pending',
      case when number > 99990 then 'setup' else 'request' end, '{"type": "evm"}', ${now}, ${now},
      case when number between 50000 and 50009 then number end,
      case when number between 50000 and 50009 then '0x' end
    from generate_series(1, 100000) as number`.execute(db)
  await sql`analyze`.execute(db)
}, 60_000)
afterAll(() => fixture.close())

/** Returns the number of rows of `transactions` that the database reads for this, in a table or through an index. */
async function countReads(read: (db: Db) => Promise<unknown>): Promise<number> {
  return fixture.context.db.transaction().execute(async (tx) => {
    const before = await readCount(tx)
    await read(tx)
    return (await readCount(tx)) - before
  })
}

async function readCount(db: Db): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid) as count
    from pg_class where relname = 'transactions'`.execute(db)
  return Number(rows[0]?.count)
}

test('the reads of a whole table are counted', async () => {
  const all = sql`select max(request::text) from transactions`
  expect(await countReads((db) => all.execute(db))).toBe(100_000)
})

test('a step reads as many pending transactions as it may sign, those with a nonce and of setup first', async () => {
  const limits = { pending: 30, overtaken: 10 }
  const find = (db: Db) => findSubmittable(db, owner.relayer.id, { now, limits })
  expect(await countReads(find)).toBeLessThanOrEqual(2 * limits.pending)
  const { pending, overtaken } = await find(fixture.context.db)
  const numbers = [
    ...Array.from({ length: 10 }, (_, index) => 50_000 + index),
    ...Array.from({ length: 10 }, (_, index) => 99_991 + index),
    ...Array.from({ length: 10 }, (_, index) => 1 + index),
  ]
  expect(pending.map(({ id }) => id)).toEqual(numbers.map((number) => `many-${number}`))
  expect(overtaken).toEqual([])
})

test('a search for accounts with work to do reads a few transactions of each', async () => {
  expect(await countReads((db) => findDueRelayers(db, now))).toBeLessThanOrEqual(10)
  expect(await countReads((db) => hasDuePending(db, owner.relayer.id, now))).toBeLessThanOrEqual(10)
  expect(await findDueRelayers(fixture.context.db, now)).toEqual([owner.relayer.id])
})
