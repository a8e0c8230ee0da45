import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALL_RELAYERS } from '../../src/access/principal.ts'
import { readActivity } from '../../src/reports/activity-store.ts'
import { openNewDatabase } from '../support/database.ts'
import { type Fixture, openFixture } from '../transactions/fixture.ts'
import { chainOf, createStubChain } from '../transactions/stub-chain.ts'

/** Two a second, so that a period of hours has more than one answer counts. */
const COUNT = 60_000
const END = Date.parse('2026-11-20T10:00:00.000Z')
const MAX_COUNTED = 50_000

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture({ database: await openNewDatabase() })
  const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })
  const ids = [await account(), await account()].map(({ relayer }) => relayer.id)
  const { db } = fixture.context
  await sql`
    insert into transactions (id, relayer_id, network, from_address, requested_by, status, purpose, request, created_at,
      block_time, current_attempt)
    select substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-000000000000', (${ids}::text[])[number % 2 + 1],
      'testnet', '0x', 'key-' || number % 30, case when number % 10 = 0 then 'failed' else 'confirmed' end, 'request',
      '{"type": "evm"}', at, at + interval '2 seconds', 1
    from (
      select number, to_timestamp(${END}::float8 / 1000) - number * interval '500 milliseconds' as at,
        lpad(to_hex(${END}::bigint - number * 500), 12, '0') as hex
      from generate_series(1, ${COUNT}::integer) as number) rows`.execute(db)
  await sql`
    insert into attempts (transaction_id, number, kind, source_account, hash, raw, draft, signature, outcome, result)
    select id, 1, 'send', '0x', 'hash-' || id, '', '{"type": "evm"}', '{"r": "", "s": "", "v": 1}', 'mined',
      '{"feeCharged": {"$int": "9007199254740993"}}'
    from transactions`.execute(db)
  await sql`vacuum analyze`.execute(db)
}, 600_000)
afterAll(() => fixture.close())

const period = (hours: number) => ({
  from: new Date(END - hours * 3_600_000),
  to: new Date(END),
  visibility: ALL_RELAYERS,
})

test('an hour is counted whole, and fees are exact', async () => {
  const query = { ...period(1), step: 'hour', by: 'network' } as const
  const { rows, completeFrom } = await readActivity(fixture.context.db, query)
  expect(completeFrom).toBeUndefined()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    start: new Date(END - 3_600_000),
    accepted: 7_200,
    failed: 720,
    fees: 7_200n * 9_007_199_254_740_993n,
    waitMedianMs: 2_000,
    waitP95Ms: 2_000,
  })
})

test('the newest of a longer period are counted, whatever there is beyond them, with the time from which they are all', async () => {
  const query = { ...period(200), step: 'hour', by: 'api_key' } as const
  const { rows, completeFrom } = await readActivity(fixture.context.db, query)
  expect(rows.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(MAX_COUNTED)
  expect(completeFrom).toEqual(new Date(END - MAX_COUNTED * 500))
  expect(new Set(rows.map(({ name, isOthers }) => `${name} ${isOthers}`)).size).toBe(11)
  expect(rows.filter(({ isOthers }) => isOthers).every(({ name }) => name === null)).toBe(true)
})
