import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import { createHousekeepingWorker } from '../../src/workers/periodic-workers.ts'
import { createAdjustableClock } from '../support/adjustable-clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000
const EVENTS = 2_000

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

async function addEvents(): Promise<void> {
  await sql`
    insert into events (type, payload) select 'notification_test', jsonb_build_object('text', repeat('x', 500))
    from generate_series(1, ${EVENTS}::bigint)`.execute(database.db)
}

async function countEvents(): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from events`.execute(database.db)
  return Number(rows[0]?.count)
}

async function sizeOfEvents(): Promise<number> {
  const { rows } = await sql<{ bytes: bigint }>`select pg_relation_size('events') as bytes`.execute(
    database.db,
  )
  return Number(rows[0]?.bytes)
}

/** Runs the worker two days from now, until it has deleted all events. */
async function cleanUp(): Promise<void> {
  const worker = createHousekeepingWorker({
    database,
    clock: createAdjustableClock(2 * DAY_MS),
    log: createLogger({ level: 'silent' }),
    owner: 'test',
    retentionMs: DAY_MS,
  })
  worker.start()
  await until(countEvents, (count) => count === 0)
  await worker.stop()
}

test('new events use the room of deleted ones, so the embedded database does not grow', async () => {
  await addEvents()
  const full = await sizeOfEvents()
  await cleanUp()
  await addEvents()
  expect(await sizeOfEvents()).toBeLessThanOrEqual(full)
  await cleanUp()
})

test('a second round vacuums all tables', async () => {
  const clock = createAdjustableClock()
  const worker = createHousekeepingWorker({
    database,
    clock,
    log: createLogger({ level: 'silent' }),
    owner: 'test',
    retentionMs: DAY_MS,
  })
  const read = async () => {
    const { rows } = await sql<{ age: number }>`
      select age(relfrozenxid) as age from pg_class where relname = 'transactions'`.execute(database.db)
    return Number(rows[0]?.age)
  }
  worker.start()
  const before = await read()
  await until(
    async () => {
      clock.advance(DAY_MS / 24)
      return read()
    },
    (age) => age < before,
  )
  await worker.stop()
})
