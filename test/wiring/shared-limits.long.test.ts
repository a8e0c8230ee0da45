import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import type { RateLimiter } from '../../src/http/rate-limit.ts'
import { createLogger } from '../../src/log.ts'
import { createSharedLimits } from '../../src/wiring/shared-limits.ts'
import type { Loop } from '../../src/workers/loop.ts'
import { createTestClock, type TestClock } from '../support/clock.ts'
import { openNewDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const RATE = { perSecond: 1, burst: 10 }

let database: Database
let clock: TestClock
let loops: Loop[]
beforeEach(async () => {
  database = await openNewDatabase()
  clock = createTestClock()
  loops = []
})
afterEach(async () => {
  await Promise.all(loops.map((loop) => loop.stop()))
  await database.close()
})

/** A process, which takes the database for one that others share. */
function process(): { limiter: RateLimiter; loop: Loop } {
  const log = createLogger({ level: 'silent' })
  const { limiter, loops: created } = createSharedLimits({
    database: { ...database, engine: 'postgres' },
    rateLimit: RATE,
    clock,
    log,
  })
  const [loop] = created
  if (loop === undefined) throw new Error('there is no exchange')
  loops.push(loop)
  loop.start()
  return { limiter, loop }
}

/** Lets every process finish a round. */
async function exchange(): Promise<void> {
  await until(
    async () => clock.waiting,
    (waiting) => waiting === loops.length,
  )
  clock.advance(250)
  await until(
    async () => clock.waiting,
    (waiting) => waiting === loops.length,
  )
}

function takeAll({ limiter }: { limiter: RateLimiter }, key: string): number {
  let count = 0
  while (limiter.take(key).waitSeconds === 0) count += 1
  return count
}

test('the embedded database, which one process alone can open, has no exchange', () => {
  const log = createLogger({ level: 'silent' })
  expect(createSharedLimits({ database, rateLimit: RATE, clock, log }).loops).toEqual([])
})

test('a process learns from the database what another one has allowed', async () => {
  const [one, other] = [process(), process()]
  expect(takeAll(one, 'key a')).toBe(10)
  await exchange()
  expect(other.limiter.take('key a').remaining).toBe(9)
  await exchange()
  expect(other.limiter.take('key a')).toMatchObject({ remaining: 0 })
  expect(takeAll(other, 'key b')).toBe(10)
})

test('callers without a key are counted in each process alone, and leave no row', async () => {
  const [one, other] = [process(), process()]
  expect(takeAll(one, 'peer 192.0.2.1')).toBe(10)
  await exchange()
  expect(takeAll(other, 'peer 192.0.2.1')).toBe(10)
  expect(await database.db.selectFrom('rate_limits').selectAll().execute()).toEqual([])
})

test('while the database is away, each process limits alone', async () => {
  const one = process()
  await exchange()
  await database.close()
  expect(takeAll(one, 'key a')).toBe(10)
  await exchange()
  expect(one.loop.health().error).toBeDefined()
  clock.advance(750)
  expect(takeAll(one, 'key a')).toBe(1)
})

test('what was allowed while the database did not answer is not told afterwards', async () => {
  const one = process()
  await exchange()
  expect(takeAll(one, 'key a')).toBe(10)
  clock.advance(6_000)
  await exchange()
  expect(await database.db.selectFrom('rate_limits').selectAll().execute()).toEqual([])
})

test('full buckets are deleted after a minute', async () => {
  const one = process()
  one.limiter.take('key a')
  await exchange()
  expect(await database.db.selectFrom('rate_limits').select('key').execute()).toEqual([{ key: 'key a' }])
  await database.db
    .updateTable('rate_limits')
    .set({ filled_at: new Date(0) })
    .execute()
  clock.advance(60_000)
  await exchange()
  expect(await database.db.selectFrom('rate_limits').selectAll().execute()).toEqual([])
})
