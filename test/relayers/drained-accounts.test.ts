import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { removeDrained } from '../../src/relayers/accounts/pool-store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
  await emptyDatabase(database)
})
afterAll(() => database.close())

/** Each account by its name, with the status of its transaction and the time since it became final. */
const ACCOUNTS = {
  'pool/unused': [],
  'pool/old': ['confirmed', '25 hours', 7],
  'pool/recent': ['confirmed', '23 hours', 7],
  'pool/unincluded': ['canceled', '1 minute', null],
  'pool/open': ['submitted', null, null],
} as const satisfies Record<string, readonly [] | readonly [string, string | null, number | null]>

test('an account that leaves stays while something of it is open, or final for less than a day', async () => {
  const { db } = database
  for (const id of ['pool', ...Object.keys(ACCOUNTS)])
    await sql`
      insert into relayers (id, name, network, network_type, address, signer_id, paused, policies, draining)
      values (${id}, 'Pool', 'anvil', 'evm', ${id}, 'dev', false, '{}', ${id !== 'pool'})`.execute(db)
  for (const [id, [status, since, block]] of Object.entries(ACCOUNTS))
    if (status !== undefined)
      await sql`
        insert into transactions (id, relayer_id, network, from_address, status, purpose, request, confirmed_at, block_number)
        values (${id}, ${id}, 'anvil', ${id}, ${status}, 'request', '{"type":"evm"}', now() - ${since}::interval, ${block})`.execute(
        db,
      )
  const removed = await db.transaction().execute((tx) => removeDrained(tx))
  expect(removed.toSorted()).toEqual(['pool/old', 'pool/unincluded', 'pool/unused'])
})
