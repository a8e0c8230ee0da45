import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/database/database.ts'
import type { Database } from '../../../src/database/engine.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { migrations } from '../../../src/database/migrations/index.ts'
import { createLogger } from '../../../src/log.ts'
import { findDelivery, listDeliveries } from '../../../src/notifications/delivery/delivery-store.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startWorker } from '../fixture.ts'

/** The tables of the release that had a job for each pending delivery. */
async function openEarlier(): Promise<Database> {
  const database = await openDatabase({ dataDir: 'memory://' }, createLogger({ level: 'silent' }))
  onTestFinished(database.close)
  const migrator = new Migrator({
    db: database.db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  })
  const { error } = await migrator.migrateTo('0011-masked-urls')
  if (error) throw error
  return database
}

const ids = (first: number) => `00000000-0000-4000-8000-00000000000${first}`

test('an upgrade delivers what had a job, in order, and keeps what was delivered', async () => {
  const receiver = await startReceiver()
  onTestFinished(receiver.stop)
  const database = await openEarlier()
  const { db } = database
  for (const statement of [
    sql`create schema pgboss`,
    sql`create table pgboss.job (id uuid primary key, state text, start_after timestamptz)`,
    sql`insert into notifications (id, type, url, has_signing_key) values ('ops', 'webhook', ${receiver.url}, false)`,
    sql`insert into events (relayer_id, transaction_id, notification_id, type, payload, number)
      select 'main', transaction_id, 'ops', 'transaction_update', '{}', number
      from (values (1, 't'), (2, 't'), (3, 't'), (4, 'u'), (5, 'v'), (6, 'w'), (7, 't')) e (number, transaction_id)`,
    // The last one was committed after the last reader.
    sql`update events set number = null where number = 7`,
    sql`update event_log set last_number = 6, relayed_number = 6`,
    // 1 has arrived, 2 was claimed by a process that is dead, 3 waits for it, 4 has failed, 5 was given up, 6 had a job; 7 has no delivery yet.
    sql`insert into deliveries (id, notification_id, event_id, event_number, ordering_key, status, tries, give_up_at, next_try_at)
      select ('00000000-0000-4000-8000-00000000000' || e.number)::uuid, 'ops', e.id, e.number, e.transaction_id, d.status, d.tries,
        now() + interval '1 day', now() + d.wait
      from events e join (values (1, 'delivered', 1, null), (2, 'pending', 0, null), (3, 'waiting', 0, null),
        (4, 'pending', 2, interval '-1 second'), (5, 'dead', 9, null), (6, 'pending', 0, null)) d (number, status, tries, wait)
        on d.number = e.number`,
    sql`insert into pgboss.job select id, case when event_number = 2 then 'active' else 'created' end, now()
      from deliveries where status = 'pending'`,
  ])
    await statement.execute(db)

  expect(await migrate(database)).toContain('0012-delivery-cursors')
  const { rows } = await sql<object>`select nspname from pg_namespace where nspname = 'pgboss'`.execute(db)
  expect(rows).toEqual([])
  const before = await listDeliveries(db, { notificationId: 'ops', offset: 0, limit: 10 })
  expect(before.items.map(({ delivery }) => delivery.status)).toEqual([
    'waiting',
    'pending',
    'dead',
    'pending',
    'waiting',
    'pending',
    'delivered',
  ])
  expect((await findDelivery(db, 'ops', { deliveryId: ids(5) }))?.delivery).toMatchObject({
    id: ids(5),
    status: 'dead',
  })

  const worker = await startWorker(database)
  onTestFinished(worker.stop)
  await until(
    () => listDeliveries(db, { notificationId: 'ops', status: 'delivered', offset: 0, limit: 10 }),
    ({ total }) => total === 6,
  )
  const arrived = receiver.received.map(({ body }) => Number(body.payload.status))
  expect(arrived.toSorted()).toEqual([2, 3, 4, 6, 7])
  expect(arrived.filter((number) => [2, 3, 7].includes(number))).toEqual([2, 3, 7])
})
