import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { listDeliveries } from '../../src/notifications/delivery/delivery-store.ts'
import { createSigningKeys } from '../../src/notifications/keys.ts'
import { createNotificationManager } from '../../src/notifications/manage.ts'
import { findNotification, saveNotification } from '../../src/notifications/store.ts'
import { createSealer, UnsealError } from '../../src/security/secrets.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { ACTOR } from '../support/samples.ts'
import { addNotification } from './fixture.ts'

describe('the keys of a notification', () => {
  const [ONE, TWO, THREE] = ['one', 'two', 'three'].map(
    (name) => `${name}-signing-key-of-thirty-two-characters`,
  ) as [string, string, string]
  const DAY_MS = 86_400_000
  const sealer = createSealer(randomBytes(32))

  let database: Database

  beforeAll(async () => {
    database = await openTestDatabase()
  })
  beforeEach(async () => {
    await emptyDatabase(database)
    await addNotification(database, 'ops', 'https://a')
  })
  afterAll(() => database.close())

  const keys = (configured?: string, how: Parameters<typeof createSigningKeys>[0]['sealer'] = sealer) =>
    createSigningKeys({
      db: database.db,
      sealer: how,
      configured: new Map(configured ? [['ops', configured]] : []),
    })

  /** As a start of the service does. */
  async function startWith(configured?: string) {
    const started = keys(configured)
    await started.adopt()
    return started
  }

  test('the key of the configuration signs, and is stored sealed', async () => {
    expect(await (await startWith(ONE)).of('ops')).toEqual([ONE])
    const rows = await database.db.selectFrom('notification_keys').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(Buffer.from(rows[0]?.sealed ?? []).includes(ONE)).toBe(false)
  })

  test('a key that changed in the configuration is the newest, and the one before signs beside it', async () => {
    await startWith(ONE)
    await startWith(ONE)
    expect(await (await startWith(TWO)).of('ops')).toEqual([TWO, ONE])
  })

  test('a key that came by the API survives a restart with the old configuration', async () => {
    const started = await startWith(ONE)
    const until = await started.rotate('ops', { text: TWO, overlapMs: DAY_MS }, ACTOR)
    expect(Math.abs((until?.getTime() ?? 0) - Date.now() - DAY_MS)).toBeLessThan(60_000)
    expect(await (await startWith(ONE)).of('ops')).toEqual([TWO, ONE])
  })

  test('two keys at most: the third ends the first', async () => {
    const started = await startWith(ONE)
    await started.rotate('ops', { text: TWO, overlapMs: DAY_MS }, ACTOR)
    await started.rotate('ops', { text: THREE, overlapMs: DAY_MS }, ACTOR)
    expect(await started.of('ops')).toEqual([THREE, TWO])
  })

  test('without overlap the key before ends immediately', async () => {
    const started = await startWith(ONE)
    await started.rotate('ops', { text: TWO, overlapMs: 0 }, ACTOR)
    expect(await started.of('ops')).toEqual([TWO])
    // The configuration still says ONE: it has had its turn.
    expect(await (await startWith(ONE)).of('ops')).toEqual([TWO])
  })

  test('without a sealing key the configuration is all there is, and nothing is stored', async () => {
    const plain = createSigningKeys({
      db: database.db,
      sealer: undefined,
      configured: new Map([['ops', ONE]]),
    })
    await plain.adopt()
    expect([await plain.of('ops'), await plain.of('other')]).toEqual([[ONE], []])
    await expect(plain.rotate('ops', { text: TWO, overlapMs: 0 }, ACTOR)).rejects.toMatchObject({
      code: 'not_supported',
    })
    expect(await database.db.selectFrom('notification_keys').selectAll().execute()).toEqual([])
  })

  test('another sealing key than before: the start says so', async () => {
    await startWith(ONE)
    await expect(keys(ONE, createSealer(randomBytes(32))).adopt()).rejects.toThrow(UnsealError)
  })

  const replace = (started: ReturnType<typeof keys>, key: string | null) =>
    database.db.transaction().execute((tx) => started.replace(tx, 'ops', key))

  test('a key that a caller put in place of all others is the only one, and stays so', async () => {
    const started = await startWith(ONE)
    await started.rotate('ops', { text: TWO, overlapMs: DAY_MS }, ACTOR)
    await replace(started, THREE)
    expect(await started.of('ops')).toEqual([THREE])
    expect(await (await startWith(ONE)).of('ops')).toEqual([THREE])
    expect(await (await startWith(TWO)).of('ops')).toEqual([TWO, THREE])
  })

  test('signing that a caller ended starts again only when the configuration has another key, or its entry changed', async () => {
    await replace(await startWith(ONE), null)
    expect(await (await startWith(ONE)).of('ops')).toEqual([])
    await database.db
      .transaction()
      .execute((tx) =>
        saveNotification(tx, { id: 'ops', type: 'webhook', url: 'https://b', hasSigningKey: true }),
      )
    expect(await (await startWith(ONE)).of('ops')).toEqual([ONE])
    await replace(await startWith(ONE), null)
    expect(await (await startWith(TWO)).of('ops')).toEqual([TWO])
  })

  test('a key for a notification that a caller deleted is left alone', async () => {
    await database.db.deleteFrom('notifications').execute()
    expect(await (await startWith(ONE)).of('ops')).toEqual([])
    await expect(keys().rotate('ops', { text: TWO, overlapMs: DAY_MS }, ACTOR)).rejects.toMatchObject({
      code: 'notification_not_found',
    })
  })

  test('an entry of the file without a key does not end the signing with a key of a caller', async () => {
    await (await startWith()).rotate('ops', { text: ONE, overlapMs: 0 }, ACTOR)
    const changed = { id: 'ops', type: 'webhook', url: 'https://b', hasSigningKey: false } as const
    await database.db.transaction().execute((tx) => saveNotification(tx, changed))
    expect(await findNotification(database.db, 'ops')).toMatchObject({
      url: 'https://b',
      hasSigningKey: true,
    })
  })
})

describe('the management of notifications', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  const managerOf = ({ db }: Database) =>
    createNotificationManager({
      db,
      keys: createSigningKeys({ db, sealer: undefined, configured: new Map() }),
      policy: { allowPrivate: true, mail: undefined },
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
})
