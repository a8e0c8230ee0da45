import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../src/database/db.ts'
import { deleteOldEvents } from '../../../src/events/retention-store.ts'
import { recordTestEvent } from '../../../src/events/store.ts'
import { NO_HOOKS, type PluginHooks } from '../../../src/plugins/hooks/hook.ts'
import {
  findDue,
  forgetHooks,
  moveLastRun,
  prepareHooks,
  readCursor,
  readLastRuns,
  saveFailedTry,
  saveRead,
} from '../../../src/plugins/hooks/hooks-store.ts'
import { openTestDatabase } from '../../support/database.ts'

const DAY_MS = 86_400_000
const FAILED = { number: 1n, key: 'a', hasFailed: true }
const BEHIND = { number: 2n, key: 'a', hasFailed: false }

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
}, 60_000)
afterAll(() => database.close())

const prepare = (hooks: PluginHooks) =>
  database.db.transaction().execute((tx) => prepareHooks(tx, 'teller', hooks))
const save = (...waiting: { number: bigint; key: string; hasFailed: boolean }[]) =>
  database.db.transaction().execute((tx) => saveRead(tx, 'teller', { upTo: 9n, waiting }, 0))
const due = async () => (await findDue(database.db, 'teller', 10)).map(({ number }) => number)

beforeEach(async () => {
  await database.db.transaction().execute((tx) => forgetHooks(tx, ['teller']))
  await prepare({ on_event: { timeout: 1 }, schedule: [] })
})

test('an event that waits for an earlier one of its transaction is not due', async () => {
  await save(FAILED, BEHIND, { number: 3n, key: 'b', hasFailed: false })
  expect(await due()).toEqual([1n, 3n])
})

test('an event waits until its next try, and is given up a day after its first one', async () => {
  const { db } = database
  await save(FAILED, BEHIND)
  const fail = () => saveFailedTry(db, 'teller', { number: 1n, delayMs: 60_000, longestMs: DAY_MS })
  expect(await fail()).toBe('waits')
  expect(await due()).toEqual([])
  await sql`update plugin_events set first_try_at = now() - interval '23 hours' where event_number = 1`.execute(
    db,
  )
  expect(await fail()).toBe('waits')
  await sql`update plugin_events set first_try_at = now() - interval '24 hours' where event_number = 1`.execute(
    db,
  )
  expect(await fail()).toBe('given_up')
  expect(await due()).toEqual([2n])
})

test('the log keeps the events that a plugin has not had, until the plugin has no hook', async () => {
  const { db } = database
  await db.transaction().execute((tx) => recordTestEvent(tx, 'absent'))
  const afterMany = { events: 1_000, work: async () => {} }
  const removeAll = () => deleteOldEvents(db, { before: new Date(Date.now() + DAY_MS), afterMany })
  expect(await removeAll()).toBe(0)
  await prepare(NO_HOOKS)
  expect(await readCursor(db, 'teller')).toBeUndefined()
  expect(await removeAll()).toBe(1)
})

test('a schedule keeps its last run while its times are the same, and begins again with others', async () => {
  const { db } = database
  const schedule = { name: 'nightly', cron: '0 3 * * *', timezone: 'UTC', timeout: 1 }
  await prepare({ schedule: [schedule] })
  const [began] = await readLastRuns(db)
  if (began === undefined) throw new Error('the schedule has no last run')
  const earlier = new Date(began.lastAt.getTime() - DAY_MS)
  expect(await moveLastRun(db, began, earlier)).toBe(true)
  expect(await moveLastRun(db, began, began.lastAt)).toBe(false)
  await prepare({ schedule: [{ ...schedule, timeout: 2 }] })
  expect((await readLastRuns(db))[0]?.lastAt).toEqual(earlier)
  await prepare({ schedule: [{ ...schedule, cron: '0 4 * * *' }] })
  expect((await readLastRuns(db))[0]?.lastAt.getTime()).toBeGreaterThan(earlier.getTime())
  await prepare(NO_HOOKS)
  expect(await readLastRuns(db)).toEqual([])
})
