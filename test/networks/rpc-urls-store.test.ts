import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { listUntrustedUrls, saveUntrustedUrls } from '../../src/networks/urls-store.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

test('urls of a network type that this release does not know are an error', async () => {
  const rpcUrls = [{ url: 'https://rpc.example', weight: 1, untrusted: true }] as const
  const known = { type: 'solana', name: 'devnet', rpcUrls, insteadOf: 'fingerprint' } as const
  const save = () => database.db.transaction().execute((tx) => saveUntrustedUrls(tx, known))
  expect(await save()).toBeUndefined()
  expect(await save()).toEqual(known)
  expect(await listUntrustedUrls(database.db)).toEqual([known])
  await database.db.updateTable('network_urls').set({ network_type: 'sui' }).execute()
  await expect(listUntrustedUrls(database.db)).rejects.toThrow('network type "sui" is unknown')
})
