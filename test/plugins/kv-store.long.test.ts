import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { executeKv } from '../../src/plugins/kv-store.ts'
import type { KvMessage } from '../../src/plugins/messages.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database?.close())
beforeEach(async () => {
  await sql`delete from plugin_locks`.execute(database.db)
})

const use = (operation: KvMessage['operation'], fields: Partial<KvMessage> = {}) =>
  executeKv(database.db, 'one', { type: 'kv', id: 1, key: 'key', operation, ...fields })

/** Adds locks that end after some seconds. */
const addLocks = (plugin: string, number: number, seconds: number) =>
  sql`insert into plugin_locks (plugin_id, key, owner, expires_at)
    select ${plugin}, 'held:' || ${seconds}::int || ':' || n, 'x', now() + make_interval(secs => ${seconds}::int)
    from generate_series(1, ${number}::int) n`.execute(database.db)

async function countLocks(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from plugin_locks`.execute(database.db)
  return rows[0]?.n ?? 0
}

describe('locks of a plugin', () => {
  test('that have ended are removed with the next one', async () => {
    await addLocks('one', 12_000, -1)
    expect(await use('lock', { value: 'me' })).toEqual({ value: 'true' })
    expect(await countLocks()).toBe(1)
  })

  test('are bounded in number, those of each plugin for themselves', async () => {
    await addLocks('one', 9_999, 60)
    await addLocks('other', 10_000, 60)
    expect(await use('lock', { key: 'last', value: 'me' })).toEqual({ value: 'true' })
    expect(await use('lock', { key: 'more', value: 'me' })).toMatchObject({ error: { code: 'KV_FULL' } })
    expect(await use('unlock', { key: 'last', value: 'me' })).toEqual({ value: 'true' })
    expect(await use('lock', { key: 'more', value: 'me' })).toEqual({ value: 'true' })
    expect(await countLocks()).toBe(20_000)
  })

  test('have an owner of a bounded length', async () => {
    for (const operation of ['lock', 'unlock'] as const)
      for (const value of ['', 'x'.repeat(65), 'x'.repeat(7 * 1024 * 1024), "'", undefined])
        expect([operation, await use(operation, value === undefined ? {} : { value })]).toEqual([
          operation,
          value === undefined
            ? expect.anything()
            : { error: expect.objectContaining({ code: 'KV_INVALID_OWNER' }) },
        ])
  })

  test('last as long as they were asked for', async () => {
    await use('lock', { value: 'me', ttlSec: 7_200 })
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from expires_at - now())::int as seconds from plugin_locks`.execute(database.db)
    expect(rows[0]?.seconds).toBeGreaterThan(7_190)
  })

  test('belong to their first owner until they end', async () => {
    expect(await use('lock', { value: 'me' })).toEqual({ value: 'true' })
    expect(await use('lock', { value: 'you' })).toEqual({ value: 'false' })
    expect(await use('unlock', { value: 'you' })).toEqual({ value: 'false' })
    await sql`update plugin_locks set expires_at = now() - interval '1 second'`.execute(database.db)
    expect(await use('lock', { value: 'you' })).toEqual({ value: 'true' })
  })
})
