import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deleteFull, takeShared } from '../../src/access/rate-limits-store.ts'
import type { Database } from '../../src/database/db.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

const RATE = { perSecond: 10, burst: 30 }

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(() => emptyDatabase(database))
afterAll(() => database.close())

const take = (tokens: Record<string, number>, seconds = 0) =>
  takeShared(database.db, { ...RATE, tokens: new Map(Object.entries(tokens)), seconds })

/** Moves the time of every bucket by this many seconds: into the past, or into the future when they are negative. */
const age = (seconds: number) =>
  sql`update rate_limits set filled_at = filled_at - ${seconds}::float8 * interval '1 second'`.execute(
    database.db,
  )

const keys = async () =>
  (await database.db.selectFrom('rate_limits').select('key').orderBy('key').execute()).map(({ key }) => key)

/** The table refills all the time, so a test that takes less than a second sees up to ten tokens more. */
const REFILLED = RATE.perSecond

async function expectLeft(left: Promise<Map<string, number>>, wanted: number): Promise<void> {
  const tokens = (await left).get('a') ?? Number.NaN
  expect(tokens).toBeGreaterThanOrEqual(wanted - 1e-6)
  expect(tokens).toBeLessThan(wanted + REFILLED)
}

test('a new key has a full bucket, from which all processes take', async () => {
  expect(await take({ b: 1, a: 5 })).toEqual(
    new Map([
      ['a', 25],
      ['b', 29],
    ]),
  )
  await expectLeft(take({ a: 5 }), 20)
})

test('processes that have taken too much together are in debt, which time pays off', async () => {
  await take({ a: 30 })
  await expectLeft(take({ a: 30 }), -30)
  await age(2)
  await expectLeft(take({ a: 1 }), -11)
})

test('a bucket is full after a pause, not more than full', async () => {
  await take({ a: 30 })
  await age(3_600)
  expect(await take({ a: 1 })).toEqual(new Map([['a', 29]]))
})

test('what is refilled while tokens are taken makes up for them, though the bucket was full', async () => {
  await take({ a: 1 })
  await age(3_600)
  expect(await take({ a: 25 }, 2)).toEqual(new Map([['a', 25]]))
})

test('a clock that was ahead stops the refill for no longer than one exchange', async () => {
  await take({ a: 30 })
  await age(-3_600)
  await expectLeft(take({ a: 1 }), -1)
  await age(1)
  await expectLeft(take({ a: 1 }), 8)
})

test('only buckets that are full by now are deleted', async () => {
  await take({ full: 10 })
  await age(1.01)
  await take({ fresh: 10 })
  await deleteFull(database.db, RATE)
  expect(await keys()).toEqual(['fresh'])
})
