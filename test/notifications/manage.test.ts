import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { listDeliveries } from '../../src/notifications/delivery/delivery-store.ts'
import { createSigningKeys } from '../../src/notifications/keys.ts'
import { createNotificationManager } from '../../src/notifications/manage.ts'
import { ACTOR } from '../support/actor.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const managerOf = ({ db }: Database) =>
  createNotificationManager({
    db,
    keys: createSigningKeys({ db, sealer: undefined, configured: new Map() }),
    policy: { allowPrivate: true },
    windowMs: 1_000,
    usersOf: async () => [],
  })

test('a new notification gets none of the events that were committed before it, for one with the same id', async () => {
  const { db } = database
  const event = {
    relayer_id: 'main',
    notification_id: 'ops',
    type: 'notification_test',
    payload: '{}',
  } as const
  await db.insertInto('events').values(event).execute()
  await managerOf(database).create({ id: 'ops', url: 'http://127.0.0.1:9/hook' }, ACTOR)
  const query = { notificationId: 'ops', offset: 0, limit: 10 }
  expect((await listDeliveries(db, query)).total).toBe(0)
  await db.insertInto('events').values(event).execute()
  expect((await listDeliveries(db, query)).total).toBe(1)
})
