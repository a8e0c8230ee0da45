import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { nextEvents } from '../../src/events/follow.ts'
import { deleteOldEvents } from '../../src/events/retention-store.ts'
import {
  lastNumber,
  logBounds,
  PAGE_BYTES,
  recordTestEvent,
  skipIssuedNumbers,
} from '../../src/events/store.ts'
import { createEventPresenter } from '../../src/handlers/present/event.ts'
import { foldCounts, listDeliveries } from '../../src/notifications/delivery/delivery-store.ts'
import { saveNotification } from '../../src/notifications/store.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'
import { saveRelayer, setSystemDisabled } from '../../src/relayers/store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

const RELAYER: Relayer = {
  id: 'main',
  name: 'Main',
  network: 'anvil',
  networkType: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signerId: 'dev',
  notificationId: 'ops',
  paused: false,
  systemDisabled: false,
  policies: { minBalance: 2n ** 100n },
}

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(() => emptyDatabase(database))
afterAll(() => database.close())

const all = () => nextEvents(database.db, { after: 0n, limit: 100 })

async function writeTests(count: number): Promise<void> {
  await database.db.transaction().execute(async (tx) => {
    await saveNotification(tx, { id: 'ops', type: 'webhook', url: 'https://a', hasSigningKey: false })
    for (let index = 0; index < count; index += 1) await recordTestEvent(tx, 'ops')
  })
}

test('a relayer that was disabled and enabled has both events, each with the state of its time', async () => {
  const { db } = database
  await writeTests(0)
  await db.transaction().execute((tx) => saveRelayer(tx, RELAYER))
  for (const reason of [{ type: 'NonceSyncFailed', details: 'No endpoint answers.' } as const, null]) {
    await db.transaction().execute((tx) => setSystemDisabled(tx, 'main', reason))
  }
  const present = createEventPresenter({ db, runtimesOf: async () => new Map() })
  const [off, on] = await present(await all())
  expect(off).toMatchObject({
    type: 'relayer_state_update',
    relayer_id: 'main',
    payload: {
      payload_type: 'relayer_disabled',
      disable_reason: { type: 'NonceSyncFailed', details: 'No endpoint answers.' },
      relayer: { id: 'main', system_disabled: true, policies: { min_balance: 2n ** 100n } },
    },
  })
  expect(on?.payload).toMatchObject({
    payload_type: 'relayer_enabled',
    retry_count: 1,
    relayer: { system_disabled: false },
  })
  expect((await all()).map(({ notificationId }) => notificationId)).toEqual(['ops', 'ops'])
})

test('a rolled back event is never read', async () => {
  const { db } = database
  const start = await lastNumber(db)
  await writeTests(1)
  const failing = db.transaction().execute(async (tx) => {
    await recordTestEvent(tx, 'ops')
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  await writeTests(1)
  expect((await all()).map(({ number }) => number - start)).toEqual([1n, 3n])
  expect(await lastNumber(db)).toBe(start + 3n)
})

test('old events are deleted with their deliveries, but for those that are still to be delivered', async () => {
  const { db } = database
  await writeTests(5)
  const events = await all()
  const [, second, third, fourth, last] = events.map(({ number }) => number)
  await sql`update events set created_at = now() - interval '31 days' where number < ${last}`.execute(db)
  // The fourth is behind the cursor and has no row: it was never tried.
  await sql`update delivery_cursors set event_number = ${third} where notification_id = 'ops'`.execute(db)
  await sql`
    insert into deliveries (notification_id, event_number, ordering_key, status)
    select 'ops', number, 'l' || number, case when number = ${second} then 'pending' else 'delivered' end
    from events where number <> ${fourth}`.execute(db)
  const before = new Date(Date.now() - 30 * 86_400_000)
  let breaks = 0
  const afterMany = {
    events: 10,
    work: async () => {
      breaks += 1
    },
  }
  expect(await deleteOldEvents(db, { before, afterMany })).toBe(2)
  expect(breaks).toBe(1)
  expect(await deleteOldEvents(db, { before, afterMany })).toBe(0)
  expect(breaks).toBe(1)
  expect((await all()).map(({ number }) => number)).toEqual([second, fourth, last])
  const total = async () =>
    (await listDeliveries(db, { notificationId: 'ops', status: 'delivered', offset: 0, limit: 10 })).total
  expect(await total()).toBe(1)
  await foldCounts(db)
  expect(await total()).toBe(1)
  expect(
    await db.selectFrom('delivery_counts').select(['status', 'count']).orderBy('status').execute(),
  ).toEqual([
    { status: 'delivered', count: 1n },
    { status: 'pending', count: 1n },
  ])
  expect(await logBounds(db)).toEqual({ first: second, last })
  const { rows } = await sql<{ number: bigint }>`
    select event_number as number from deliveries order by 1`.execute(db)
  expect(rows.map(({ number }) => number)).toEqual([second, last])
})

describe('a page of large events', () => {
  const writeLarge = (sizes: readonly number[]) =>
    sql`
      insert into events (notification_id, type, payload)
      select 'ops', 'notification_test', jsonb_build_object('text', repeat('x', size))
      from unnest(${sizes}::int[]) with ordinality as sizes(size, position) order by position`.execute(
      database.db,
    )

  async function pages(limit = 100): Promise<number[]> {
    const lengths: number[] = []
    const start = await lastNumber(database.db)
    const { first } = await logBounds(database.db)
    let cursor = (first ?? 1n) - 1n
    for (;;) {
      const page = await nextEvents(database.db, { after: cursor, limit })
      if (page.length === 0) break
      expect(page.map(({ number }) => number)).toEqual(page.map((_, index) => cursor + BigInt(index) + 1n))
      cursor += BigInt(page.length)
      lengths.push(page.length)
    }
    expect(cursor).toBe(start)
    return lengths
  }

  test('ends when it exceeds its bytes, and the next one goes on where it ended', async () => {
    await writeTests(0)
    await writeLarge(Array(8).fill(100_000))
    expect(await pages()).toEqual([3, 3, 2])
  })

  test('holds one event, however large it is', async () => {
    await writeTests(0)
    await writeLarge([10, 2 * PAGE_BYTES, 10, 3 * PAGE_BYTES, 4 * PAGE_BYTES])
    expect(await pages()).toEqual([2, 2, 1])
  })

  test('is as long as the limit when the events are small', async () => {
    await writeTests(7)
    expect(await pages(3)).toEqual([3, 3, 1])
  })
})

describe('numbers after a restart', () => {
  const MICROSECONDS = 1_000n

  test('go on at the present time, so that a database that went back gives none twice', async () => {
    const { db } = database
    await writeTests(1)
    const before = BigInt(Date.now()) * MICROSECONDS
    await skipIssuedNumbers(db)
    await writeTests(2)
    const [, first, second] = await all()
    expect(first?.number).toBeGreaterThan(before)
    expect(second?.number).toBe((first?.number ?? 0n) + 1n)
    expect(await lastNumber(db)).toBe(second?.number)
  })

  test('never fall, although the clock does', async () => {
    const { db } = database
    const ahead = BigInt(Date.now()) * MICROSECONDS * 2n
    await sql`select setval('event_numbers', ${ahead})`.execute(db)
    await skipIssuedNumbers(db)
    await writeTests(1)
    expect((await all()).at(-1)?.number).toBe(ahead + 1n)
  })
})
