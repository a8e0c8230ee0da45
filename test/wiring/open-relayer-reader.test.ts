import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { migrate } from '../../src/database/migrate.ts'
import { createLogger } from '../../src/log.ts'
import { openRelayerReader } from '../../src/relayers/relayer-cache.ts'
import { findRelayer, removeRelayer, saveRelayer, setSystemDisabled } from '../../src/relayers/store.ts'
import { createDataDir } from '../support/data-dir.ts'
import { emptyDatabase } from '../support/database.ts'

const RELAYER = {
  id: 'main',
  name: 'main',
  network: 'anvil',
  networkType: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: {},
} as const

const prepared = async () => {}

let database: Database
let queries = 0

beforeAll(async () => {
  // The engine works in its thread, as in the service: the order of its answers and notifications is what counts here.
  database = await openDatabase(
    { dataDir: await createDataDir(), observer: { ended: () => (queries += 1) } },
    createLogger({ level: 'silent' }),
  )
  await migrate(database)
})
afterAll(() => database?.close())
beforeEach(async () => {
  await emptyDatabase(database)
  await database.db.transaction().execute((tx) => saveRelayer(tx, RELAYER))
})

const CHANGES = {
  'is renamed': () =>
    database.db.transaction().execute((tx) => saveRelayer(tx, { ...RELAYER, name: 'other' })),
  'is paused': () => database.db.transaction().execute((tx) => saveRelayer(tx, { ...RELAYER, paused: true })),
  'is disabled by the service': () =>
    database.db
      .transaction()
      .execute((tx) => setSystemDisabled(tx, 'main', { type: 'RpcValidationFailed', details: 'down' })),
  'is removed': () => database.db.transaction().execute((tx) => removeRelayer(tx, 'main')),
  'is deleted': () => emptyDatabase(database),
}

test.each(Object.entries(CHANGES))(
  'a relayer that %s is read again, after the commit and not before',
  async (_, change) => {
    const { read, close } = await openRelayerReader(database, prepared)
    const before = await read('main')
    expect(before).toEqual(RELAYER)
    queries = 0
    expect(await Promise.all([read('main'), read('main')])).toEqual([before, before])
    expect(queries).toBe(0)
    await change()
    const [after, stored] = await Promise.all([read('main'), findRelayer(database.db, 'main')])
    expect(after).toEqual(stored)
    expect(after).not.toEqual(before)
    await close()
  },
)

test('a relayer that changes while it is read is not remembered as it was', async () => {
  const isRead = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const { read, close } = await openRelayerReader(database, () => {
    isRead.resolve()
    return gate.promise
  })
  const early = read('main')
  await isRead.promise
  await CHANGES['is paused']()
  gate.resolve()
  expect(await early).toEqual(RELAYER)
  expect(await read('main')).toEqual({ ...RELAYER, paused: true })
  await close()
})

test('a relayer that does not exist is asked for again', async () => {
  const { read, close } = await openRelayerReader(database, prepared)
  expect(await read('later')).toBeUndefined()
  await database.db.transaction().execute((tx) => saveRelayer(tx, { ...RELAYER, id: 'later' }))
  expect(await read('later')).toEqual({ ...RELAYER, id: 'later' })
  await close()
})

/** The columns that no relayer in memory has. */
const UNREAD = ['created_at', 'failed_checks']

test('every column that a relayer has announces its changes', async () => {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns where table_name = 'relayers' and is_generated = 'NEVER'`.execute(
    database.db,
  )
  expect(rows.length).toBeGreaterThan(UNREAD.length)
  const announced: string[] = []
  let notified = 0
  const close = await database.listen('relayer_rows_changed', () => (notified += 1))
  for (const { name } of rows) {
    const before = notified
    await sql`update relayers set ${sql.ref(name)} = ${sql.ref(name)}`.execute(database.db)
    if (notified > before) announced.push(name)
  }
  await close()
  expect(
    rows
      .map(({ name }) => name)
      .filter((name) => !announced.includes(name))
      .sort(),
  ).toEqual(UNREAD)
})
