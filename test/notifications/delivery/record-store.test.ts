import { expect, test } from 'vitest'
import { acquireLease } from '../../../src/database/lease.ts'
import { nextEvents } from '../../../src/events/follow.ts'
import { recordTestEvent } from '../../../src/events/store.ts'
import { orderingKeyOf } from '../../../src/notifications/delivery/delivery.ts'
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
    orderingKey: orderingKeyOf(event),
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
