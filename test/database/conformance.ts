import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { isRetryable, isUniqueViolation } from '../../src/database/errors.ts'
import {
  DatabaseTooNewError,
  DatabaseTooOldError,
  migrate,
  pendingMigrations,
} from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { notify } from '../../src/database/sql-helpers.ts'
import { describeLeases } from './lease-cases.ts'

/** One place where data is kept, that can be opened again and again. */
export interface DatabaseUnderTest {
  open(): Promise<Database>
  remove(): Promise<void>
}

const INT8_MAX = 2n ** 63n - 1n

/** [what, type of the column, value given, value expected back] */
const VALUES: [string, string, unknown, unknown][] = [
  ['the largest int8', 'int8', INT8_MAX, INT8_MAX],
  ['the smallest int8', 'int8', -INT8_MAX - 1n, -INT8_MAX - 1n],
  ['a small int8 given as a number', 'int8', 7, 7n],
  ['2^256-1 in a numeric', 'numeric(80, 0)', 2n ** 256n - 1n, 2n ** 256n - 1n],
  ['zero in a numeric', 'numeric(80, 0)', 0n, 0n],
  ['an int4', 'int4', -2147483648, -2147483648],
  ['a boolean', 'boolean', true, true],
  ['text with all kinds of letters', 'text', `'"\\ é 漢 🙂 \n`, `'"\\ é 漢 🙂 \n`],
  ['jsonb given as text', 'jsonb', '{"a":["1",null,{"b":true}]}', { a: ['1', null, { b: true }] }],
  ['bytes', 'bytea', Uint8Array.of(0, 1, 127, 128, 255), Uint8Array.of(0, 1, 127, 128, 255)],
  ['no bytes', 'bytea', new Uint8Array(), new Uint8Array()],
  ['a moment with milliseconds', 'timestamptz', new Date(1_700_000_000_123), new Date(1_700_000_000_123)],
  ['a moment before 1970', 'timestamptz', new Date(-1), new Date(-1)],
  ['null', 'int8', null, null],
  ['a list of texts', 'text[]', ['a', 'b"c', ''], ['a', 'b"c', '']],
]

/** What every engine must do, run by each of them. */
export function describeDatabase(setUp: () => Promise<DatabaseUnderTest>): void {
  let underTest: DatabaseUnderTest
  let database: Database

  beforeAll(async () => {
    underTest = await setUp()
    database = await underTest.open()
  }, 60_000)

  afterAll(async () => {
    await database.close()
    await underTest.remove()
  })

  describe('migrations', () => {
    test('five callers at once: one applies, all succeed', async () => {
      const all = Object.keys(migrations)
      expect(await pendingMigrations(database)).toEqual(all)
      const results = await Promise.all(Array.from({ length: 5 }, () => migrate(database)))
      expect(results.filter((names) => names.length > 0)).toEqual([all])
      expect(await pendingMigrations(database)).toEqual([])
    })

    test('a second run applies nothing', async () => {
      expect(await migrate(database)).toEqual([])
    })

    test('a database of a later release is refused', async () => {
      const later = sql`insert into schema_migrations (name, timestamp) values ('9999-later', '2999-01-01T00:00:00Z')`
      await later.execute(database.db)
      await expect(migrate(database)).rejects.toThrow(DatabaseTooNewError)
      await expect(pendingMigrations(database)).rejects.toThrow('it has 9999-later')
      await sql`delete from schema_migrations where name = '9999-later'`.execute(database.db)
      expect(await migrate(database)).toEqual([])
    })
  })

  describe('values', () => {
    test.each(VALUES)('%s comes back as it went in', async (_what, type, given, expected) => {
      const query = sql<{ value: unknown }>`select cast(${given} as ${sql.raw(type)}) as value`
      const { rows } = await query.execute(database.db)
      expect(rows).toStrictEqual([{ value: expected }])
    })

    test('count and sum are bigint', async () => {
      const query = sql<object>`select count(*) as n, sum(x::int8) as s from (values (1), (2)) as t (x)`
      expect((await query.execute(database.db)).rows).toStrictEqual([{ n: 2n, s: 3n }])
    })

    test('lists are accepted as parameters', async () => {
      const query = sql<object>`select * from unnest(${[1n, INT8_MAX]}::int8[], ${[2n, 2n ** 128n]}::numeric[],
        ${[Uint8Array.of(1), Uint8Array.of(255, 0)]}::bytea[], ${['a', null]}::text[]) as t (a, b, c, d)`
      expect((await query.execute(database.db)).rows).toStrictEqual([
        { a: 1n, b: 2n, c: Uint8Array.of(1), d: 'a' },
        { a: INT8_MAX, b: 2n ** 128n, c: Uint8Array.of(255, 0), d: null },
      ])
    })

    test('a fraction fails instead of losing digits', async () => {
      await expect(sql`select 1.5::numeric as x`.execute(database.db)).rejects.toThrow(SyntaxError)
    })

    test('an update tells how many rows it changed', async () => {
      const result = await database.db.updateTable('leases').set({ owner: 'x' }).executeTakeFirst()
      expect(result.numUpdatedRows).toBe(0n)
    })
  })

  describe('transactions', () => {
    const add = (id: string) =>
      database.db
        .insertInto('notifications')
        .values({ id, type: 'webhook', url: 'https://a', has_signing_key: false })

    test('a row that exists already is a unique violation of its constraint', async () => {
      await add('one').execute()
      const error: unknown = await add('one')
        .execute()
        .catch((thrown) => thrown)
      expect(isUniqueViolation(error)).toBe(true)
      expect(isUniqueViolation(error, 'notifications_pkey')).toBe(true)
      expect(isUniqueViolation(error, 'another')).toBe(false)
      expect(isRetryable(error)).toBe(false)
    })

    test('a thrown error takes everything back', async () => {
      const failing = database.db.transaction().execute(async (tx) => {
        await tx
          .insertInto('notifications')
          .values({ id: 'two', type: 'webhook', url: 'https://a', has_signing_key: false })
          .execute()
        throw new Error('on purpose')
      })
      await expect(failing).rejects.toThrow('on purpose')
      expect(
        await database.db.selectFrom('notifications').where('id', '=', 'two').selectAll().execute(),
      ).toEqual([])
    })

    test('a failed statement inside poisons nothing that comes after', async () => {
      const failing = database.db.transaction().execute((tx) => sql`select 1/0`.execute(tx))
      await expect(failing).rejects.toMatchObject({ code: '22012' })
      expect((await sql`select 1 as one`.execute(database.db)).rows).toEqual([{ one: 1 }])
    })

    test('a query beside an open transaction does not see it', async () => {
      const inserted = Promise.withResolvers<void>()
      const transaction = database.db.transaction().execute(async (tx) => {
        await tx
          .insertInto('notifications')
          .values({ id: 'three', type: 'webhook', url: 'https://a', has_signing_key: false })
          .execute()
        inserted.resolve()
        throw new Error('on purpose')
      })
      await inserted.promise
      const seen = database.db.selectFrom('notifications').where('id', '=', 'three').selectAll().execute()
      await expect(transaction).rejects.toThrow('on purpose')
      expect(await seen).toEqual([])
    })
  })

  describe('notifications', () => {
    test('arrive with their payload after the commit, not before, and not after a rollback', async () => {
      const heard: string[] = []
      const { promise: last, resolve } = Promise.withResolvers<void>()
      const stop = await database.listen('Wake_Up', (payload) => {
        heard.push(payload)
        if (payload === 'last') resolve()
      })
      const failing = database.db.transaction().execute(async (tx) => {
        await notify(tx, 'Wake_Up', 'rolled back')
        throw new Error('on purpose')
      })
      await expect(failing).rejects.toThrow('on purpose')
      await database.db.transaction().execute(async (tx) => {
        await notify(tx, 'Wake_Up', 'committed')
        await sql`select pg_sleep(0.05)`.execute(tx)
        expect(heard).toEqual([])
      })
      await notify(database.db, 'Wake_Up', 'last')
      await last
      expect(heard).toEqual(['committed', 'last'])
      await stop()
    })

    test('do not reach who has stopped listening, and still reach the other', async () => {
      const heard: string[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      const stopFirst = await database.listen('channel', () => heard.push('first'))
      const stopSecond = await database.listen('channel', () => {
        heard.push('second')
        resolve()
      })
      await stopFirst()
      await notify(database.db, 'channel')
      await promise
      expect(heard).toEqual(['second'])
      await stopSecond()
    })
  })

  describeLeases(() => database)

  test('what was written is there after closing and opening again', async () => {
    await database.db
      .insertInto('notifications')
      .values({ id: 'kept', type: 'webhook', url: 'https://a', has_signing_key: true })
      .execute()
    await database.close()
    await database.close()
    database = await underTest.open()
    expect(await migrate(database)).toEqual([])
    const rows = await database.db.selectFrom('notifications').where('id', '=', 'kept').select('id').execute()
    expect(rows).toEqual([{ id: 'kept' }])
  }, 60_000)
}

/** The statements that make a database as it was before the first release: the log of its migrations, and some of its tables. */
export const EARLIER_DATABASE = [
  'create table schema_migrations (name varchar(255) not null primary key, timestamp varchar(255) not null)',
  'create table schema_migrations_lock (id varchar(255) not null primary key, is_locked integer not null default 0)',
  "insert into schema_migrations values ('0001-initial-schema', '2026-01-01T00:00:00.000Z'), ('0002-accounts', '2026-01-01T00:00:00.001Z')",
  "insert into schema_migrations_lock values ('migration_lock', 0)",
  'create table relayers (id text primary key, name text not null)',
  "insert into relayers values ('main', 'Main')",
]

/** What every engine does with a database that was made before the first release. */
export function describeEarlierDatabase(setUp: () => Promise<DatabaseUnderTest>): void {
  describe('a database that was made before the first release', () => {
    let underTest: DatabaseUnderTest
    let database: Database

    beforeAll(async () => {
      underTest = await setUp()
      database = await underTest.open()
      for (const statement of EARLIER_DATABASE) await sql.raw(statement).execute(database.db)
    }, 60_000)

    afterAll(async () => {
      await database.close()
      await underTest.remove()
    })

    /** Every table with its columns and its rows. */
    async function contentOf({ db }: Database): Promise<unknown> {
      const { rows: tables } = await sql<{ name: string }>`
        select table_name as name from information_schema.tables where table_schema = 'public' order by 1`.execute(
        db,
      )
      return Promise.all(
        tables.map(async ({ name }) => [
          name,
          (await sql`select * from ${sql.table(name)}`.execute(db)).rows,
        ]),
      )
    }

    test.each([
      ['a migration', migrate],
      ['a look for pending migrations', pendingMigrations],
    ])('is refused by %s, and left as it is', async (_what, use) => {
      const before = await contentOf(database)
      expect(before).toHaveLength(3)
      await expect(use(database)).rejects.toThrow(DatabaseTooOldError)
      expect(await contentOf(database)).toEqual(before)
    })

    test('is refused with its first migration alone', async () => {
      await sql`delete from schema_migrations where name <> '0001-initial-schema'`.execute(database.db)
      await expect(migrate(database)).rejects.toThrow('before the first release')
    })
  })
}
