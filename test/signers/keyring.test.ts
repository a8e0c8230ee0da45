import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { createSealer, type Sealer, UnsealError } from '../../src/security/secrets.ts'
import { createKey } from '../../src/signers/key.ts'
import { createKeyring } from '../../src/signers/keyring.ts'
import { createSignerManager } from '../../src/signers/manage.ts'
import { listStored, saveConfiguredSigner } from '../../src/signers/store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { KEY_SERVICES } from '../support/key-services/connections.ts'
import { ACTOR } from '../support/samples.ts'

const [OF_FILE, OF_CALLER] = ['11', '22'].map((byte) => byte.repeat(32)) as [string, string]
const sealer = createSealer(randomBytes(32))
const WAYS = { connection: KEY_SERVICES.requested }
const keyOf = (hex: string) => createKey('any', Buffer.from(hex, 'hex'))

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(async () => {
  await emptyDatabase(database)
  await database.db.transaction().execute((tx) => saveConfiguredSigner(tx, { id: 'ours', type: 'plain' }))
})
afterAll(() => database.close())

const keyring = (how: Sealer | undefined = sealer) =>
  createKeyring({ ...WAYS, db: database.db, sealer: how, configured: new Map([['ours', keyOf(OF_FILE)]]) })
const manager = (users: readonly string[] = []) =>
  createSignerManager({ ...WAYS, db: database.db, sealer, usersOf: async () => users })

const publicKey = async (id: string, ring = keyring()) => (await ring.find(id))?.stellar?.publicKey

test('the keyring gives the keys of the file and those of callers', async () => {
  await manager().create({ id: 'theirs', type: 'plain', config: { key: OF_CALLER } }, ACTOR)
  expect(await publicKey('ours')).toEqual(keyOf(OF_FILE).stellar.publicKey)
  expect(await publicKey('theirs')).toEqual(keyOf(OF_CALLER).stellar.publicKey)
  expect(await publicKey('nobody')).toBeUndefined()
})

test('keys that are wanted at the same time are read in two statements, each for whom it was wanted', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `signer-${index}`)
  const configured = new Map(ids.map((id, index) => [id, keyOf((index + 1).toString(16).padStart(64, '0'))]))
  await database.db.transaction().execute(async (tx) => {
    for (const id of ids) await saveConfiguredSigner(tx, { id, type: 'plain' })
  })
  let statements = 0
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => {
      statements += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const ring = createKeyring({ ...WAYS, db, sealer, configured })
  const wanted = [...ids, 'nobody', ...ids.slice(0, 3)]
  expect(await Promise.all(wanted.map(ring.find))).toEqual(wanted.map((id) => configured.get(id)))
  expect(statements).toBe(2)
})

test('a signer that is deleted has no key any more, though the one of the file is still loaded', async () => {
  await manager().delete('ours', ACTOR)
  expect(await publicKey('ours')).toBeUndefined()
})

test('a key is stored sealed, and opens for its own signer only', async () => {
  await manager().create({ id: 'theirs', type: 'plain', config: { key: `0x${OF_CALLER}` } }, ACTOR)
  const [row] = await database.db.selectFrom('signers').select('sealed').where('id', '=', 'theirs').execute()
  expect(Buffer.from(row?.sealed ?? []).toString('latin1')).not.toContain(OF_CALLER)
  await database.db.updateTable('signers').set({ id: 'another' }).where('id', '=', 'theirs').execute()
  await expect(publicKey('another')).rejects.toThrow(UnsealError)
  await expect(publicKey('another', keyring(createSealer(randomBytes(32))))).rejects.toThrow(UnsealError)
  await expect(
    createKeyring({ ...WAYS, db: database.db, sealer: undefined, configured: new Map() }).find('another'),
  ).rejects.toThrow('STORAGE_ENCRYPTION_KEY is not set')
})

test('a signer that relayers use is kept', async () => {
  await expect(manager(['one', 'two']).delete('ours', ACTOR)).rejects.toMatchObject({
    code: 'in_use',
    detail: 'Signer ours is used by "one", "two"; delete what uses it first.',
  })
  const stored = await database.db.transaction().execute((tx) => listStored(tx))
  expect([...stored.keys()]).toEqual(['ours'])
})
