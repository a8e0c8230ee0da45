import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TransactionStatus } from '../../../src/transactions/model/transaction.ts'
import { findPosition, positionsWithin } from '../../../src/transactions/search/positions-store.ts'
import { searchStatement, type TransactionSearch } from '../../../src/transactions/search/search-store.ts'
import { dueRelayersStatement, findDueRelayers } from '../../../src/transactions/store/due-store.ts'
import { listTransactions, pageOf } from '../../../src/transactions/store/lookups-store.ts'
import { openNewDatabase } from '../../support/database.ts'
import { type Fixture, openFixture, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'
import { collectPages, visibilityOf } from './search.ts'

let fixture: Fixture
let owners: TestAccount[]
/** A node of a plan. */
interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** There are 100,000 transactions of four relayers. */
beforeAll(async () => {
  fixture = await openFixture({ database: await openNewDatabase() })
  const account = () => fixture.addAccount({ chain: chainOf(createStubChain()) })
  owners = await Promise.all(Array.from({ length: 4 }, account))
  const ids = owners.map(({ relayer }) => relayer.id)
  await sql`
      insert into transactions (id, relayer_id, network, from_address, status, purpose, request, created_at)
      select 'many-' || number, (${ids}::text[])[number % 4 + 1], 'testnet', '0x', 'confirmed', 'request',
        jsonb_build_object('type', 'evm', 'to', case when number = 7 then '0xAA' else '0xBB' end), now()
      from generate_series(1, 100000) as number`.execute(fixture.context.db)
  await sql`
      insert into attempts (transaction_id, number, kind, source_account, hash, raw, draft, signature, outcome)
      select 'many-' || number, 1, 'send', '0x', 'hash-' || number, '', '{"type": "evm"}', '{"r": "", "s": "", "v": 1}', 'mined'
      from generate_series(2, 100000, 5) as number`.execute(fixture.context.db)
  await sql`
      insert into idempotency_keys (relayer_id, key, fingerprint, transaction_id)
      select relayer_id, 'key-' || position, '', id from transactions where position % 5 = 0`.execute(
    fixture.context.db,
  )
  await sql`
      insert into transaction_terms (relayer_id, term, position, asset, amount)
      select relayer_id, unnest(array['asset:native', 'requested_by:root', 'to:' || lower(request ->> 'to')]), position, 'native', 1
      from transactions`.execute(fixture.context.db)
  await sql`vacuum analyze`.execute(fixture.context.db)
}, 180_000)
afterAll(() => fixture.close())

/** Runs a search, and returns the rows of `transactions` that it has read, and how. */
function readBy(search: Partial<TransactionSearch>) {
  return readByStatement(searchStatement({ visibility: visibilityOf(...owners), limit: 50, ...search }))
}

async function readByStatement(statement: RawBuilder<unknown>) {
  const { rows } = await sql<{ 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>`
      explain (analyze, format json) ${statement}`.execute(fixture.context.db)
  const plan = rows[0]?.['QUERY PLAN'][0].Plan
  if (plan === undefined) throw new Error('there is no plan')
  const reads = nodesOf(plan).filter((node) => node['Relation Name'] === 'transactions')
  const count = (node: Plan) =>
    ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1)
  return {
    types: [...new Set(reads.map((node) => node['Node Type']))],
    heap: reads
      .filter((node) => node['Node Type'] !== 'Index Only Scan')
      .reduce((sum, node) => sum + count(node), 0),
    rows: reads.reduce((sum, node) => sum + count(node), 0),
  }
}

test.each<[string, Partial<TransactionSearch>, number]>([
  ['all', {}, 4 * 51],
  ['all from the middle on', { before: 50_000n }, 4 * 51],
  ['a final status', { status: 'confirmed' }, 4 * 51],
  ['an open status', { status: 'submitted' }, 0],
  ['an id', { id: 'many-7' }, 2 * 4],
  ['a hash', { hash: 'hash-7' }, 2 * 4],
  ['a hash that none has', { hash: `0x${'b1'.repeat(32)}` }, 0],
  ['a hash of another status', { hash: 'hash-7', status: 'failed' }, 2 * 4],
  ['a receiver that one has', { to: '0xaa' }, 2 * 4],
  ['a receiver that nearly all have', { to: '0xbb' }, 2 * 4 * 51],
  ['a receiver that none has', { to: '0xcc' }, 0],
  ['an asset that all have', { asset: 'native' }, 2 * 4 * 51],
  ['an API key that sent all', { requestedBy: 'root' }, 2 * 4 * 51],
  ['a reference that none has', { reference: 'r' }, 0],
  ['a time', { createdBefore: new Date(0) }, 20_000],
])('a search for %s reads few rows, by an index', async (_name, search, most) => {
  const { types, rows } = await readBy(search)
  expect(types).not.toEqual([])
  expect(types).not.toContain('Seq Scan')
  expect(rows).toBeLessThanOrEqual(most)
})

test.each<[string, TransactionStatus | undefined]>([
  ['a list', undefined],
  ['a list of a final status', 'confirmed'],
])(
  'a page in the middle of %s reads the rows of the page, and the others in an index alone',
  async (_name, status) => {
    const relayerIds = owners.slice(0, 1).map(({ relayer }) => relayer.id)
    const page = pageOf({ relayerIds, status }, { order: 'desc', offset: 12_000, limit: 10 })
    const { heap, rows } = await readByStatement(page)
    expect(heap).toBe(10)
    expect(rows).toBe(10 + 12_010)
  },
)

test.each([
  ['all', undefined],
  ['a final status', 'confirmed' as const],
])('the pages of a list of %s are the same from both ends', async (_name, status) => {
  const { db } = fixture.context
  const relayerIds = owners.slice(0, 2).map(({ relayer }) => relayer.id)
  const { rows } = await sql<{ id: string }>`
    select id from transactions where relayer_id = any(${relayerIds}::text[]) order by position desc`.execute(
    db,
  )
  const ids = rows.map(({ id }) => id)
  await sql`
    insert into finished_counts (relayer_id, status, count)
    select relayer_id, status, count(*) from transactions group by 1, 2 on conflict do nothing`.execute(db)
  for (const offset of [0, 9_990, 10_000, 24_995, 30_000, 49_990, 49_995, 50_000, 60_000]) {
    const { items, total } = await listTransactions(db, { relayerIds, status, offset, limit: 10 })
    expect(items.map(({ transaction }) => transaction.id)).toEqual(ids.slice(offset, offset + 10))
    expect(total).toBe(50_000)
  }
})

test('the newest setup transaction is found without the history', async () => {
  const [owner] = owners
  const reads = await readByStatement(
    sql`select * from transactions where relayer_id = ${owner?.relayer.id} and purpose = 'setup' order by position desc limit 1`,
  )
  expect(reads.rows).toBe(0)
})

test('a search over thousands of relayers reads few rows of each, and its pages have all transactions', async () => {
  const { db } = fixture.context
  await sql`
    insert into relayers (id, name, network, network_type, address, signer_id, paused, policies, created_at)
    select 'crowd-' || number, name, network, network_type, address, signer_id, paused, policies, created_at
    from relayers r, generate_series(1, 3000) as number where r.id = ${owners[0]?.relayer.id ?? ''}`.execute(
    db,
  )
  await sql`
    insert into transactions (id, relayer_id, network, from_address, status, purpose, request, created_at)
    select 'crowd-' || number, 'crowd-' || number % 3000 + 1, 'testnet', '0x', 'confirmed', 'request', '{"type": "evm"}', now()
    from generate_series(1, 30000) as number`.execute(db)
  const visibility = { relayers: ['crowd-*'] }
  const { rows } = await readBy({ visibility, limit: 100 })
  expect(rows).toBeLessThanOrEqual(20_000)
  const before = await findPosition(db, 'crowd-3000', visibility)
  const pages = await collectPages(db, { visibility, limit: 100, before })
  const expected = Array.from({ length: 2_999 }, (_, index) => `crowd-${2_999 - index}`)
  expect(pages.flat()).toEqual(expected)
  expect(pages.length).toBe(30)
}, 60_000)

test.each<[string, Partial<TransactionSearch>]>([
  ['all', {}],
  ['an asset', { asset: 'native' }],
])(
  'a search for %s of a time reads the transactions of ten minutes before and after it',
  async (_name, filter) => {
    const { db } = fixture.context
    const first = Date.parse('2026-01-01T00:00:00Z')
    const at = (position: number) => new Date(first + position * 1_000)
    await sql`update transactions set created_at = ${at(0)}::timestamptz + position * interval '1 second'`.execute(
      db,
    )
    const period = {
      createdFrom: at(50_000),
      createdBefore: at(50_010),
      visibility: visibilityOf(...owners),
      ...filter,
    }
    const positions = await positionsWithin(db, period)
    expect(positions).toEqual({ from: 49_400n, before: 50_610n })
    const { types, rows } = await readBy({ ...period, ...positions })
    expect(types).not.toContain('Seq Scan')
    expect(rows).toBeLessThanOrEqual(2 * 1_210)
    const { rows: wanted } = await sql<{ id: string }>`
    select id from transactions where position >= 50000 and position < 50010 order by position desc`.execute(
      db,
    )
    expect(await collectPages(db, period)).toEqual([wanted.map(({ id }) => id)])
    for (const none of [{ createdBefore: at(-9_000) }, { createdFrom: at(900_000) }])
      expect(await collectPages(db, { ...none, ...filter, visibility: visibilityOf(...owners) })).toEqual([
        [],
      ])
  },
)

test('an amount is found behind empty pages of its asset', async () => {
  const { db } = fixture.context
  await sql`update transaction_terms set amount = 7 where position = (select position from transactions where id = 'many-9')`.execute(
    db,
  )
  const search = { visibility: visibilityOf(...owners), asset: 'native', minAmount: 7n }
  const pages = await collectPages(db, search)
  expect(pages.flat()).toEqual(['many-9'])
  expect(pages.length).toBeLessThan(8)
})

test('the relayers with work are found by one row of each, although the statistics know of no open transaction', async () => {
  const { db } = fixture.context
  const ids = owners.map(({ relayer }) => relayer.id)
  await sql`
    insert into transactions (id, relayer_id, network, from_address, status, purpose, request)
    select 'open-' || number, (${ids}::text[])[number % 4 + 1], 'testnet', '0x', 'pending', 'request', '{"type": "evm"}'
    from generate_series(1, 4000) as number`.execute(db)
  const now = new Date()
  expect((await findDueRelayers(db, now)).toSorted()).toEqual(ids.toSorted())
  // One of each relayer, found and read.
  expect((await readByStatement(dueRelayersStatement(now))).rows).toBeLessThanOrEqual(2 * ids.length)
})
