import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/log.ts'
import { addNotification, startWorker } from '../notifications/fixture.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const EVENTS = 10_000
const TRANSACTIONS = 2_500

const log = createLogger({ level: 'silent' })
let postgres: PostgresServer
let databases: [Database, Database]
let receiver: Receiver

beforeAll(async () => {
  postgres = await startPostgres()
  receiver = await startReceiver()
  const url = await postgres.createDatabase()
  const open = () => openDatabase({ url, dataDir: 'unused' }, log)
  databases = [await open(), await open()]
  await migrate(databases[0])
}, 60_000)
afterAll(async () => {
  for (const database of databases) await database.close()
  await receiver.stop()
  await postgres.stop()
})

test('10,000 events through two workers: each arrives once, and those of a transaction in order', async () => {
  const [one, other] = databases
  await addNotification(one, 'ops', receiver.url)
  const workers = await Promise.all([startWorker(one), startWorker(other)])
  for (let start = 0; start < EVENTS; start += 500) {
    await sql`
      insert into events (relayer_id, transaction_id, notification_id, type, payload)
      select 'main', 't-' || (i % ${TRANSACTIONS}), 'ops', 'transaction_update', '{}'
      from generate_series(${start}::int, ${start + 499}::int) i`.execute(one.db)
  }
  // The machine also runs other tests meanwhile.
  await receiver.arrived(EVENTS, 240_000)
  for (const worker of workers) await worker.stop()
  expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(EVENTS)
  expect(receiver.received).toHaveLength(EVENTS)
  for (const [, items] of Map.groupBy(receiver.received, ({ body }) => body.payload.id)) {
    const numbers = items.map(({ body }) => Number(body.payload.status))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(numbers).toHaveLength(EVENTS / TRANSACTIONS)
  }
  const { rows } =
    await sql<object>`select status, count(*) as count from deliveries group by status`.execute(one.db)
  expect(rows).toEqual([{ status: 'delivered', count: BigInt(EVENTS) }])
  const { rows: cursors } = await sql<object>`
    select c.event_number from delivery_cursors c join event_numbers n on n.last_value = c.event_number`.execute(
    one.db,
  )
  expect(cursors).toEqual([{ event_number: BigInt(EVENTS) }])
}, 300_000)
