import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { OpenAlert } from '../../src/alerts/alert.ts'
import {
  beginAlerts,
  countAlerts,
  endAlerts,
  findOpenAlerts,
  listAlerts,
} from '../../src/alerts/alerts-store.ts'
import type { Database } from '../../src/database/db.ts'
import { nextEvents } from '../../src/events/follow.ts'
import { createEventPresenter } from '../../src/handlers/present/event.ts'
import { saveNotification } from '../../src/notifications/store.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'
import { saveRelayer } from '../../src/relayers/store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

const RELAYER: Relayer = {
  id: 'main',
  name: 'Main',
  network: 'anvil',
  networkType: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: {},
}

const LOW: OpenAlert = {
  kind: 'balance_low',
  subject: 'main',
  since: new Date('2026-11-20T10:00:00.000Z'),
  notifications: ['a', 'b'],
  detail: { message: 'It is low.', relayer_id: 'main', value: String(2n ** 120n) },
}
const DOWN: OpenAlert = {
  kind: 'endpoint_down',
  subject: 'evm:anvil https://node.example/***',
  since: new Date('2026-11-20T11:00:00.000Z'),
  notifications: ['gone'],
  detail: { message: 'It is down.', network: 'evm:anvil', endpoint: 'https://node.example/***' },
}
const OVER = { ...LOW, resolvedAt: new Date('2026-11-20T12:00:00.000Z') }

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(async () => {
  await emptyDatabase(database)
  await database.db.transaction().execute(async (tx) => {
    for (const id of ['a', 'b'])
      await saveNotification(tx, { id, type: 'webhook', url: `https://${id}`, hasSigningKey: false })
    await saveRelayer(tx, RELAYER)
  })
})
afterAll(() => database.close())

const events = () => nextEvents(database.db, { after: 0n, limit: 100 })

test('one of several writers with the same begin or end writes it, with one event for each notification', async () => {
  const { db } = database
  const begun = await Promise.all([1, 2, 3].map(() => beginAlerts(db, [LOW])))
  expect(begun.flat()).toEqual([{ kind: 'balance_low', subject: 'main' }])
  expect((await events()).map(({ notificationId }) => notificationId)).toEqual(['a', 'b'])
  const ended = await Promise.all([1, 2, 3].map(() => endAlerts(db, [OVER])))
  expect(ended.flat()).toEqual([{ kind: 'balance_low', subject: 'main' }])
  const written = await events()
  expect(written.map(({ notificationId, relayerId }) => [notificationId, relayerId])).toEqual([
    ['a', 'main'],
    ['b', 'main'],
    ['a', 'main'],
    ['b', 'main'],
  ])
  const shown = await createEventPresenter({ db, runtimesOf: async () => new Map() })(written.slice(2, 3))
  expect(shown[0]?.payload).toEqual({
    payload_type: 'alert',
    alert: 'balance_low',
    alert_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    state: 'resolved',
    since: '2026-11-20T10:00:00.000Z',
    resolved_at: '2026-11-20T12:00:00.000Z',
    ...LOW.detail,
  })
  expect(await findOpenAlerts(db)).toEqual([])
})

test('the begin of one that fires already changes nothing beside one that does not', async () => {
  await beginAlerts(database.db, [LOW])
  expect(await beginAlerts(database.db, [LOW, DOWN])).toEqual([{ kind: DOWN.kind, subject: DOWN.subject }])
  expect(await findOpenAlerts(database.db)).toEqual([LOW, DOWN])
  expect(await countAlerts(database.db)).toEqual(
    new Map([
      ['balance_low', 1],
      ['endpoint_down', 1],
    ]),
  )
})

test('a notification that is gone gets nothing, and the event log tells of it all the same', async () => {
  await beginAlerts(database.db, [DOWN])
  expect(await events()).toMatchObject([{ type: 'alert' }])
  expect((await events())[0]).not.toHaveProperty('notificationId')
})

test('without its event an alert neither begins nor ends', async () => {
  const { db } = database
  await sql`alter table events add constraint no_alerts check (type <> 'alert') not valid`.execute(db)
  try {
    await expect(beginAlerts(db, [LOW])).rejects.toThrow('no_alerts')
    expect(await findOpenAlerts(db)).toEqual([])
    await sql`alter table events drop constraint no_alerts`.execute(db)
    await beginAlerts(db, [LOW])
    await sql`alter table events add constraint no_alerts check (type <> 'alert') not valid`.execute(db)
    await expect(endAlerts(db, [OVER])).rejects.toThrow('no_alerts')
    expect(await findOpenAlerts(db)).toEqual([LOW])
  } finally {
    await sql`alter table events drop constraint if exists no_alerts`.execute(db)
  }
})

test('a list has what may be seen, the oldest first', async () => {
  const { db } = database
  await beginAlerts(db, [DOWN, LOW])
  const page = { offset: 0, limit: 10 }
  expect(await listAlerts(db, { visibility: {}, ...page })).toEqual({ items: [LOW, DOWN], total: 2 })
  expect(await listAlerts(db, { visibility: { relayers: ['main'] }, ...page })).toEqual({
    items: [LOW],
    total: 1,
  })
  expect(await listAlerts(db, { visibility: { relayers: ['other'] }, ...page })).toEqual({
    items: [],
    total: 0,
  })
  expect(await listAlerts(db, { visibility: {}, offset: 1, limit: 1 })).toEqual({ items: [DOWN], total: 2 })
})

test('more alerts than one statement has begin and end, each once and with one event', async () => {
  const { db } = database
  const many = Array.from({ length: 600 }, (_, index): OpenAlert => ({ ...DOWN, subject: `node ${index}` }))
  expect(await beginAlerts(db, many)).toHaveLength(600)
  expect(await beginAlerts(db, many)).toEqual([])
  expect(
    await endAlerts(
      db,
      many.map((alert) => ({ ...alert, resolvedAt: new Date() })),
    ),
  ).toHaveLength(600)
  expect(await findOpenAlerts(db)).toEqual([])
  // A page has at most so many bytes.
  const first = await nextEvents(db, { after: 0n, limit: 10_000 })
  const rest = await nextEvents(db, { after: first.at(-1)?.number ?? 0n, limit: 10_000 })
  expect(first.length + rest.length).toBe(1_200)
})
