import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { hashSecret } from '../../src/access/api-key.ts'
import { createKeyDirectory } from '../../src/access/directory.ts'
import { type ApiKeyRequest, createApiKeyManager } from '../../src/access/manage.ts'
import { ROOT } from '../../src/access/principal.ts'
import type { Database } from '../../src/database/db.ts'
import { createAdjustableClock } from '../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { ACTOR } from '../support/samples.ts'

const KEY: ApiKeyRequest = { id: 'a', name: 'A', scopes: ['rpc'], visibility: {} }
const REQUESTER = { principal: ROOT, actor: ACTOR }
const MINUTE_MS = 60_000

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(() => emptyDatabase(database))
afterAll(() => database.close())

/** Two processes on one database, of which only the first one hears of its own changes. */
function processes() {
  const { db } = database
  const clock = createAdjustableClock()
  const [own, other] = [createKeyDirectory({ db, clock }), createKeyDirectory({ db, clock })]
  return { clock, own, other, manager: createApiKeyManager({ db, clock, changed: own.look }) }
}

test('a process finds a change of another one at its next look, though it heard nothing', async () => {
  const { own, other, manager } = processes()
  await other.look()
  const { secret } = await manager.create(REQUESTER, KEY)
  expect([own.find(hashOf(secret))?.id, other.find(hashOf(secret))]).toEqual(['a', undefined])
  await other.look()
  expect(other.find(hashOf(secret))?.id).toBe('a')
  await manager.change(REQUESTER, 'a', { disabled: true })
  expect([own.find(hashOf(secret)), other.find(hashOf(secret))?.id]).toEqual([undefined, 'a'])
  await other.look()
  expect([other.find(hashOf(secret)), other.byId('a')]).toEqual([undefined, undefined])
})

test('a change ends the principal of that key, and of no other', async () => {
  const { own, manager } = processes()
  const [{ secret: first }, { secret: second }] = [
    await manager.create(REQUESTER, KEY),
    await manager.create(REQUESTER, { ...KEY, id: 'b' }),
  ]
  const [changed, kept] = [own.find(hashOf(first)), own.find(hashOf(second))]
  await manager.change(REQUESTER, 'a', { name: 'another name' })
  expect(changed?.ended.aborted).toBe(false)
  await manager.change(REQUESTER, 'a', { scopes: ['rpc', 'sign'] })
  expect([changed?.ended.aborted, kept?.ended.aborted]).toEqual([true, false])
  expect(own.find(hashOf(first))?.may('sign')).toBe(true)
})

test('a key ends by itself, and with it what was opened with it', async () => {
  const { clock, own, manager } = processes()
  const { secret } = await manager.create(REQUESTER, { ...KEY, expiresAt: new Date(clock.now() + MINUTE_MS) })
  const principal = own.find(hashOf(secret))
  clock.advance(MINUTE_MS)
  expect(own.find(hashOf(secret))).toBeUndefined()
  await own.look()
  expect(principal?.ended.aborted).toBe(true)
})

test('the previous secret ends with the overlap', async () => {
  const { clock, own, manager } = processes()
  const first = await manager.create(REQUESTER, KEY)
  const second = await manager.rotate(REQUESTER, 'a', MINUTE_MS)
  expect([own.find(hashOf(first.secret))?.id, own.find(hashOf(second.secret))?.id]).toEqual(['a', 'a'])
  clock.advance(MINUTE_MS)
  expect([own.find(hashOf(first.secret)), own.find(hashOf(second.secret))?.id]).toEqual([undefined, 'a'])
  expect((await manager.get('a')).secrets).toHaveLength(1)
})

test('the last use is written within a minute, by whichever process saw it', async () => {
  const { clock, own, other, manager } = processes()
  const { secret } = await manager.create(REQUESTER, KEY)
  await other.look()
  const used = clock.now()
  own.find(hashOf(secret))
  await own.look()
  expect((await manager.get('a')).lastUsedAt).toBeUndefined()
  clock.advance(MINUTE_MS)
  await own.look()
  const first = (await manager.get('a')).lastUsedAt?.getTime() ?? 0
  expect(first - used).toBeGreaterThanOrEqual(0)
  expect(first - used).toBeLessThan(MINUTE_MS)
  other.find(hashOf(secret))
  own.find(hashOf(secret))
  clock.advance(MINUTE_MS)
  await own.look()
  await other.look()
  expect((await manager.get('a')).lastUsedAt?.getTime()).toBeGreaterThan(first)
})
