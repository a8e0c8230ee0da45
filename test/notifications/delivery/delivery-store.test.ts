import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/database/db.ts'
import { acquireLease } from '../../../src/database/lease.ts'
import { nextEvents } from '../../../src/events/follow.ts'
import { lastNumber, recordTestEvent } from '../../../src/events/store.ts'
import { findOldestWaiting } from '../../../src/notifications/delivery/delivery-store.ts'
import { readCursors } from '../../../src/notifications/delivery/outgoing-store.ts'
import { record } from '../../../src/notifications/delivery/record-store.ts'
import { deleteNotification, saveNotification } from '../../../src/notifications/store.ts'
import { openTestDatabase } from '../../support/database.ts'

const OPS = { id: 'ops', type: 'webhook', url: 'http://127.0.0.1:9/hook', hasSigningKey: false } as const

test('a result is recorded for the notification that it belongs to, and not for a later one with its id', async () => {
  const database = await openTestDatabase()
  const { db } = database
  const create = () => db.transaction().execute((tx) => saveNotification(tx, OPS))
  const sinceOf = async () => (await readCursors(db)).get('ops')?.createdAt.getTime() ?? 0
  const countOf = async () => (await db.selectFrom('deliveries').select('event_number').execute()).length
  const lease = await acquireLease(db, { name: 'relay', owner: 'test', ttlMs: 60_000 })
  if (lease === undefined) throw new Error('the lease is taken')
  await create()
  const former = await sinceOf()
  await db.transaction().execute((tx) => recordTestEvent(tx, 'ops'))
  const [event] = await nextEvents(db, { after: 0n, limit: 1 })
  if (event === undefined) throw new Error('there is no event')
  const item = {
    notificationId: 'ops',
    event,
    orderingKey: `event ${event.number}`,
    tries: 0,
    giveUpAt: new Date(),
    stored: false,
  }
  const save = (since: number) =>
    record(db, lease, {
      settlements: [{ item, status: 'delivered' }],
      moves: [{ notificationId: 'ops', cursor: event.number, since }],
    })
  await db.transaction().execute((tx) => deleteNotification(tx, 'ops'))
  await create()
  await save(former)
  expect(await countOf()).toBe(0)
  await save(await sinceOf())
  expect(await countOf()).toBe(1)
  await database.close()
})

describe('the oldest waiting delivery', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  const hour = (count: number) => new Date(Date.UTC(2026, 0, 1, count))

  /** A notification with an event at each of these hours, not numbered yet. */
  async function addNotification(id: string, hours: readonly number[]): Promise<void> {
    const { db } = database
    await db
      .transaction()
      .execute((tx) =>
        saveNotification(tx, { id, type: 'webhook', url: 'http://127.0.0.1:9/', hasSigningKey: false }),
      )
    for (const count of hours) {
      await db.transaction().execute((tx) => recordTestEvent(tx, id))
      await sql`update events set created_at = ${hour(count)} where number = (select max(number) from events)`.execute(
        db,
      )
    }
  }

  /** Stores the result of a try for the event of this hour. */
  async function tried(id: string, count: number, status: string): Promise<void> {
    await sql`
    insert into deliveries (notification_id, event_number, ordering_key, status, tries)
    select notification_id, number, uid, ${status}, 1 from events
    where notification_id = ${id} and created_at = ${hour(count)}
    on conflict (notification_id, event_number) do update set status = excluded.status`.execute(database.db)
  }

  test('the oldest event that waits is one without a number, without a try, or with a failed one', async () => {
    const { db } = database
    const oldest = async () => (await findOldestWaiting(db)).get('ops')
    await addNotification('ops', [1, 2, 3])
    expect(await oldest()).toEqual(hour(1))
    await lastNumber(db)
    expect(await oldest()).toEqual(hour(1))
    await tried('ops', 1, 'pending')
    expect(await oldest()).toEqual(hour(1))
    await tried('ops', 1, 'delivered')
    expect(await oldest()).toEqual(hour(2))
    await tried('ops', 2, 'waiting')
    expect(await oldest()).toEqual(hour(2))
    await tried('ops', 2, 'dead')
    expect(await oldest()).toEqual(hour(3))
    await tried('ops', 3, 'delivered')
    expect(await oldest()).toBeUndefined()
  })

  test('a paused notification waits on purpose', async () => {
    const { db } = database
    await addNotification('paused', [5])
    expect([...(await findOldestWaiting(db)).keys()]).toEqual(['paused'])
    await sql`update notifications set paused = true where id = 'paused'`.execute(db)
    expect([...(await findOldestWaiting(db)).keys()]).toEqual([])
  })
})
