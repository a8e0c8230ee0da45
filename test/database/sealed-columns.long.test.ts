import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { sealStoredUrls, withSealedColumns } from '../../src/database/sealed-columns.ts'
import {
  listPrivateUrls,
  listUntrustedUrls,
  savePrivateUrls,
  saveUntrustedUrls,
} from '../../src/networks/urls-store.ts'
import { findNotification, insertNotification, saveNotification } from '../../src/notifications/store.ts'
import {
  findRelayer,
  insertRelayer,
  readRelayerSnapshots,
  saveRelayer,
  setSystemDisabled,
  updateRelayer,
} from '../../src/relayers/store.ts'
import { createSealer } from '../../src/security/secrets.ts'
import { openNewDatabase } from '../support/database.ts'

const SECRET = 'a-secret-in-a-url'
const RPC_URLS = [{ url: `https://rpc.example/${SECRET}`, weight: 100, untrusted: true }] as const
const HOOK = `https://hook.example/?token=${SECRET}`
const NETWORK = { type: 'evm', name: 'sepolia', rpcUrls: RPC_URLS, insteadOf: 'fingerprint' } as const
const PRIVATE = {
  type: 'evm',
  name: 'sepolia',
  privateRpcUrls: [
    { url: `https://private.example/${SECRET}`, method: 'eth_sendRawTransaction', untrusted: true },
  ],
  insteadOf: 'fingerprint',
} as const
const SEALER = createSealer(Buffer.alloc(32, 1))

const relayer = (id: string) => ({
  id,
  name: id,
  network: 'anvil',
  networkType: 'evm' as const,
  address: `0x${id}`,
  signerId: 'dev',
  paused: false,
  policies: {},
  customRpcUrls: RPC_URLS,
})

/** Writes each kind of record in each of the ways in which the service does. */
async function writeAll({ db }: Database): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await saveUntrustedUrls(tx, NETWORK)
    await saveUntrustedUrls(tx, NETWORK)
    await savePrivateUrls(tx, PRIVATE)
    await savePrivateUrls(tx, PRIVATE)
    await saveRelayer(tx, relayer('file'))
    await saveRelayer(tx, relayer('file'))
    await insertRelayer(tx, relayer('api'))
    await updateRelayer(tx, relayer('api'))
    await setSystemDisabled(tx, 'api', { type: 'RpcValidationFailed', details: 'down' })
    const notification = { id: 'file', type: 'webhook', url: HOOK, hasSigningKey: false } as const
    await saveNotification(tx, notification)
    await saveNotification(tx, notification)
    await insertNotification(tx, { ...notification, id: 'api' })
  })
}

async function expectReadable({ db }: Database): Promise<void> {
  expect(await listUntrustedUrls(db)).toEqual([NETWORK])
  expect(await listPrivateUrls(db)).toEqual([PRIVATE])
  for (const id of ['file', 'api']) {
    expect(await findRelayer(db, id)).toMatchObject({ customRpcUrls: RPC_URLS })
    expect(await findNotification(db, id)).toMatchObject({ url: HOOK })
  }
}

/** Everything that the tables hold, as text. */
async function storedText({ db }: Database): Promise<string> {
  const tables = ['relayers', 'network_urls', 'network_private_urls', 'notifications', 'events']
  const texts = await Promise.all(
    tables.map(async (table) => (await sql`select t::text from ${sql.table(table)} t`.execute(db)).rows),
  )
  return JSON.stringify(texts)
}

async function open() {
  const plain = await openNewDatabase()
  onTestFinished(plain.close)
  return { plain, sealed: withSealedColumns(plain, SEALER), keyless: withSealedColumns(plain, undefined) }
}

test('urls are sealed in every table, and read as they were written', async () => {
  const { plain, sealed } = await open()
  await writeAll(sealed)
  expect(await storedText(plain)).not.toContain(SECRET)
  await expectReadable(sealed)
  const events = await plain.db.selectFrom('events').select('number').execute()
  const snapshots = await readRelayerSnapshots(
    sealed.db,
    events.map(({ number }) => number),
  )
  expect([...snapshots.values()]).toMatchObject([{ relayer: { id: 'api', customRpcUrls: RPC_URLS } }])
})

test('without a key urls are plain, and a later start with a key seals them', async () => {
  const { plain, sealed, keyless } = await open()
  await writeAll(keyless)
  expect(await storedText(plain)).toContain(SECRET)
  await expectReadable(keyless)
  await expectReadable(sealed)
  await plain.db.deleteFrom('events').execute()
  await sealStoredUrls(sealed.db)
  expect(await storedText(plain)).not.toContain(SECRET)
  await expectReadable(sealed)
  const before = await storedText(plain)
  await sealStoredUrls(sealed.db)
  expect(await storedText(plain)).toBe(before)
})

test('sealed urls need the key, and the right one', async () => {
  const { plain, sealed, keyless } = await open()
  await writeAll(sealed)
  await expect(findRelayer(keyless.db, 'api')).rejects.toThrow('STORAGE_ENCRYPTION_KEY is needed')
  const other = withSealedColumns(plain, createSealer(Buffer.alloc(32, 2)))
  await expect(findRelayer(other.db, 'api')).rejects.toThrow('has STORAGE_ENCRYPTION_KEY changed?')
})

test('an expression is not written to a sealed column', async () => {
  const { sealed } = await open()
  const update = sealed.db.updateTable('notifications').set({ url: sql<string>`url || '/'` })
  await expect(update.execute()).rejects.toThrow('takes values only')
})

test('a notification that was gone continues when its sealed url changes, and stays paused when it does not', async () => {
  const { sealed } = await open()
  await writeAll(sealed)
  const save = (url: string) =>
    sealed.db.transaction().execute(async (tx) => {
      await tx.updateTable('notifications').set({ paused: true, paused_reason: 'gone' }).execute()
      await saveNotification(tx, { id: 'file', type: 'webhook', url, hasSigningKey: false })
      return (await findNotification(tx, 'file'))?.paused
    })
  expect(await save(HOOK)).toBe('gone')
  expect(await save(`${HOOK}&new`)).toBeUndefined()
})
