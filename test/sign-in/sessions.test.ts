import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { hashSecretHex } from '../../src/access/api-key.ts'
import type { Database } from '../../src/database/db.ts'
import { createSessions } from '../../src/sign-in/sessions.ts'
import { createTestClock } from '../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

const ISSUER = 'https://login.example.com'
const SETTINGS = { issuer: ISSUER, sessionMs: 12 * 3_600_000, idleMs: 3_600_000 }
const ADA = { person: { issuer: ISSUER, subject: 'ada', name: 'Ada' }, roles: ['viewer'] } as const
const ORIGIN = { address: '203.0.113.7', userAgent: 'Test', requestId: 'r', previous: undefined }
const MINUTE_MS = 60_000

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(() => emptyDatabase(database))
afterAll(() => database.close())

/** Two processes on one database, of which only the first one hears of its own changes. */
async function processes(settings = SETTINGS) {
  const { db } = database
  const clock = createTestClock()
  const [own, other] = [createSessions({ db, clock, settings }), createSessions({ db, clock, settings })]
  await own.look()
  await other.look()
  /** Lets time pass as the loops of the two see it. */
  const pass = async (minutes: number, use: () => unknown = () => {}) => {
    for (let count = 0; count < minutes; count += 1) {
      clock.advance(MINUTE_MS)
      use()
      await own.look()
      await other.look()
    }
  }
  return { clock, own, other, pass }
}

const stored = async () => (await database.db.selectFrom('sessions').selectAll().execute()).length

test('a session ends when it was idle for long enough, in every process, and its row goes', async () => {
  const { own, other, pass } = await processes()
  const { secret } = await own.begin(ADA, ORIGIN)
  await pass(59)
  const principal = other.find(hashSecretHex(secret))
  expect(principal?.person?.name).toBe('Ada')
  await pass(59)
  expect(own.find(hashSecretHex(secret))?.ended.aborted).toBe(false)
  await pass(64)
  expect([own.find(hashSecretHex(secret)), other.find(hashSecretHex(secret))]).toEqual([undefined, undefined])
  expect(principal?.ended.aborted).toBe(true)
  await pass(5)
  expect(await stored()).toBe(0)
})

test('a use at one process keeps the session alive at the other', async () => {
  const { own, other, pass } = await processes()
  const { secret } = await own.begin(ADA, ORIGIN)
  await pass(90, () => own.find(hashSecretHex(secret)))
  expect(other.find(hashSecretHex(secret))).toBeDefined()
})

test('a session ends after its absolute limit, however much it is used', async () => {
  const { own, other, pass } = await processes({ ...SETTINGS, sessionMs: 90 * MINUTE_MS })
  const { secret } = await own.begin(ADA, ORIGIN)
  await pass(89, () => own.find(hashSecretHex(secret)))
  expect(own.find(hashSecretHex(secret))).toBeDefined()
  await pass(1, () => own.find(hashSecretHex(secret)))
  expect([own.find(hashSecretHex(secret)), other.find(hashSecretHex(secret))]).toEqual([undefined, undefined])
  expect((await own.list({ offset: 0, limit: 10 })).total).toBe(0)
})

test('the database has the hash of the secret, and not the secret', async () => {
  const { own } = await processes()
  const { secret } = await own.begin(ADA, ORIGIN)
  const [row] = await database.db.selectFrom('sessions').selectAll().execute()
  expect(Buffer.from(row?.hash ?? []).toString('hex')).toBe(hashSecretHex(secret))
  expect(JSON.stringify(row)).not.toContain(secret)
})

test('sessions of an earlier provider are not accepted after the issuer was changed', async () => {
  const { own } = await processes()
  const { secret } = await own.begin(ADA, ORIGIN)
  const { own: later } = await processes({ ...SETTINGS, issuer: 'https://other.example.com' })
  expect([later.find(hashSecretHex(secret)), (await later.list({ offset: 0, limit: 10 })).total]).toEqual([
    undefined,
    0,
  ])
})

test('a person who is renamed at the provider keeps the id, and gets the new name everywhere', async () => {
  const { own } = await processes()
  await own.begin(ADA, ORIGIN)
  await own.begin({ ...ADA, person: { ...ADA.person, name: 'Ada Lovelace' } }, ORIGIN)
  const { items } = await own.list({ offset: 0, limit: 10 })
  expect(items.map(({ person }) => person.name)).toEqual(['Ada Lovelace', 'Ada Lovelace'])
  expect(await database.db.selectFrom('people').selectAll().execute()).toHaveLength(1)
})

test('while no one is signed in, a look is one query of one row', async () => {
  const { own, pass } = await processes()
  await pass(3)
  expect(own.byId('x')).toBeUndefined()
  expect(await stored()).toBe(0)
})
