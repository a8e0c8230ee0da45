import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALL_RELAYERS } from '../../src/access/principal.ts'
import type { Attempt } from '../../src/chains/attempt.ts'
import { FAMILIES } from '../../src/chains/families.ts'
import { toExactJson } from '../../src/lib/json.ts'
import type { NetworkType } from '../../src/networks/network.ts'
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

/** A mined attempt as the database has it, and the answer of the chain. */
const CASES: readonly [name: string, draft: { type: NetworkType; fee?: bigint }, result: object][] = [
  ['EVM that a node told', { type: 'evm' }, { feeCharged: 21n }],
  ['EVM that no node told', { type: 'evm' }, {}],
  ['Stellar that the account paid', { type: 'stellar' }, { feeCharged: 100n, feeAccount: 'payer' }],
  ['Stellar that another account paid', { type: 'stellar' }, { feeCharged: 100n, feeAccount: 'other' }],
  ['Stellar that no node told', { type: 'stellar' }, {}],
  ['Solana that a node told', { type: 'solana', fee: 5_000n }, { feeCharged: 5_000n }],
  ['Solana that a node told too high', { type: 'solana', fee: 5_000n }, { feeCharged: 9_000n }],
]

test.each(CASES)('the fee on %s is that of the spending report', async (name, draft, result) => {
  const { db } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  // Each case has an hour of its own.
  const at = END + (1 + CASES.findIndex(([one]) => one === name)) * 3_600_000
  const hex = at.toString(16).padStart(12, '0')
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
  const stored = (value: object) => JSON.stringify(toExactJson(value))
  await sql`
    insert into transactions (id, relayer_id, network, from_address, status, purpose, request, created_at, current_attempt)
    values (${id}, ${relayer.id}, 'testnet', 'payer', 'confirmed', 'request', '{"type": "evm"}', ${new Date(at)}, 1)`.execute(
    db,
  )
  await sql`
    insert into attempts (transaction_id, number, kind, source_account, hash, raw, draft, signature, outcome, result)
    values (${id}, 1, 'send', 'payer', ${`hash-${id}`}, '', ${stored(draft)}::jsonb,
      '{"r": "", "s": "", "v": 1}', 'mined', ${stored(result)}::jsonb)`.execute(db)
  const period = { from: new Date(at), to: new Date(at + 3_600_000), visibility: ALL_RELAYERS }
  const { rows } = await readActivity(db, { ...period, step: 'hour', by: 'network' })
  const { feeCharged } = result as { readonly feeCharged?: bigint }
  const paid =
    feeCharged === undefined
      ? undefined
      : FAMILIES[draft.type].content.paidFee({ draft, result } as unknown as Attempt, 'payer')
  expect(rows).toMatchObject([{ fees: paid ?? 0n, unknownFees: feeCharged === undefined ? 1 : 0 }])
})
