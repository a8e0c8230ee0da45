import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/database/db.ts'
import { openPGlite } from '../../../src/database/engines/embedded/pglite.ts'
import { startEngineHere, startEngineThread } from '../../../src/database/engines/embedded/start-engine.ts'
import { acquireLease, endAllLeases, releaseLease } from '../../../src/database/lease.ts'
import { createDataDir } from '../../support/data-dir.ts'

describe.each([
  ['a thread of its own', startEngineThread],
  ['this thread', startEngineHere],
])('the embedded database in %s', (_place, startEngine) => {
  let database: Database
  beforeAll(async () => {
    database = await openPGlite({ dataDir: await createDataDir(), durability: 'full', startEngine })
  })
  afterAll(() => database.close())

  test('answers callers in the order of their calls', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index)
    const rows = await Promise.all(
      numbers.map((number) => sql<{ n: number }>`select ${number}::int as n`.execute(database.db)),
    )
    expect(rows.map((answer) => answer.rows[0]?.n)).toEqual(numbers)
  })

  test('keeps nothing of a transaction with a statement that failed, even if the failure is ignored', async () => {
    await sql`create table kept (id int primary key)`.execute(database.db)
    const broken = database.db.transaction().execute(async (tx) => {
      await sql`insert into kept values (1)`.execute(tx)
      await sql`select 1 / 0`.execute(tx).catch(() => {})
    })
    await expect(broken).rejects.toThrow(/transaction/i)
    expect((await sql`select id from kept`.execute(database.db)).rows).toEqual([])
  })

  test('tells listeners of a commit before its caller goes on, until they leave', async () => {
    const heard: string[] = []
    const leave = await database.listen('Changes', (payload) => void heard.push(payload))
    const say = (word: string) =>
      database.db.transaction().execute((tx) => sql`select pg_notify('Changes', ${word})`.execute(tx))
    await say('one')
    expect(heard).toEqual(['one'])
    await leave()
    await say('two')
    expect(heard).toEqual(['one'])
  })

  test('sends a megabyte there and back', async () => {
    const text = 'x'.repeat(2 ** 20)
    const { rows } = await sql<{ text: string }>`select ${text}::text as text`.execute(database.db)
    expect(rows[0]?.text).toBe(text)
  })
})

test('a database that is closed refuses every call', async () => {
  const database = await openPGlite({ dataDir: await createDataDir(), durability: 'full' })
  await sql`select 1`.execute(database.db)
  await database.close()
  await expect(sql`select 1`.execute(database.db)).rejects.toThrow()
  await expect(database.db.transaction().execute((tx) => sql`select 1`.execute(tx))).rejects.toThrow()
})

test('a failed opening frees the folder', async () => {
  const dataDir = await createDataDir()
  const startEngine = async () => {
    const started = await startEngineHere()
    return { ...started, port: { ...started.port, on: () => {}, postMessage: refuse } as never }
  }
  await expect(openPGlite({ dataDir, durability: 'full', startEngine })).rejects.toThrow('no engine')
  await (await openPGlite({ dataDir, durability: 'full' })).close()
})

function refuse(): never {
  throw new Error('no engine')
}

// A server writes its log in the background, too, so that only the embedded database shows who waits for the disk.
test('a lease waits for no disk, and everything else does', async () => {
  const database = await openPGlite({ dataDir: await createDataDir(), durability: 'full' })
  const { db } = database
  const readLog = async () => {
    const { rows } = await sql<{ flushed: bigint; written: bigint }>`
      select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as flushed,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as written`.execute(db)
    const [row] = rows
    if (row === undefined) throw new Error('the engine has no log')
    return row
  }
  const before = await readLog()
  const lease = await acquireLease(db, { name: 'account', owner: 'one', ttlMs: 60_000 })
  if (lease === undefined) throw new Error('the lease is not free')
  expect(await acquireLease(db, { name: 'account', owner: 'one', ttlMs: 60_000 })).toEqual(lease)
  await releaseLease(db, lease)
  const after = await readLog()
  expect(after.written).toBeGreaterThan(before.written)
  expect(after.flushed).toBe(before.flushed)
  await endAllLeases(db)
  expect((await readLog()).flushed).toBeGreaterThan(after.written)
  await database.close()
})
