import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { ALL_RELAYERS } from '../../../src/access/principal.ts'
import type { Draft } from '../../../src/chains/attempt.ts'
import type { ChainRequest } from '../../../src/chains/request.ts'
import { openDatabase } from '../../../src/database/database.ts'
import type { Database } from '../../../src/database/db.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { createLogger } from '../../../src/log.ts'
import { saveRelayer } from '../../../src/relayers/store.ts'
import { searchTransactions } from '../../../src/transactions/search/search-store.ts'
import { encodeDraft, encodeRequest } from '../../../src/transactions/store/codec.ts'
import { listTransactions } from '../../../src/transactions/store/lookups-store.ts'
import { RECEIVER } from '../../../test/support/service.ts'
import { claimsOf } from '../large/claims.ts'
import { atMost, percentile, type Row } from '../measurement.ts'

/** What a history is compared with. */
const FEW = 1_000

/** Not final yet, in both: the history is to be long, not the work. */
const OPEN = 20

const ROUNDS = 200
const RELAYER = 'main'
const PAGE = { relayerIds: [RELAYER], offset: 0, limit: 10 }

const REQUEST: ChainRequest = { type: 'evm', to: RECEIVER, value: 1n, gasLimit: 21_000n }
const DRAFT: Draft = {
  type: 'evm',
  to: RECEIVER,
  value: 1n,
  data: '0x',
  gasLimit: 21_000n,
  fees: { kind: 'legacy', gasPrice: 1n },
}

type Db = Database['db']

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)

const SEARCH = { visibility: ALL_RELAYERS, limit: 10 }

/** Only the oldest transaction pays it. */
const RARE = `0x${'ab'.repeat(20)}`

const QUERIES: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  'list, first page': (db) => listTransactions(db, PAGE),
  'list, first page of one status': (db) => listTransactions(db, { ...PAGE, status: 'confirmed' }),
  'search, receiver of all': (db) => searchTransactions(db, { ...SEARCH, to: RECEIVER }),
  'search, receiver of one': (db) => searchTransactions(db, { ...SEARCH, to: RARE }),
  'search, asset': (db) => searchTransactions(db, { ...SEARCH, asset: 'native' }),
  'search, reference': (db) => searchTransactions(db, { ...SEARCH, reference: 'invoice-7' }),
  'search, an hour': (db) =>
    searchTransactions(db, { ...SEARCH, createdFrom: hoursAgo(2), createdBefore: hoursAgo(1) }),
  'search, API key': (db) => searchTransactions(db, { ...SEARCH, requestedBy: 'root' }),
  ...claimsOf(RELAYER),
}

/**
 * The queries of lists and workers on a long history, beside the same queries on a short one, in alternating
 * rounds.
 */
export async function benchLists({ rows }: { rows: number }): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-bench-'))
  const many = await filled(join(folder, 'many'), rows)
  const few = await filled(join(folder, 'few'), FEW)
  try {
    const measurements: Row[] = []
    for (const [name, query] of Object.entries(QUERIES)) {
      const { ours, bare } = await compare(query, { ours: many.db, bare: few.db })
      measurements.push({
        what: `${name}, ${rows} rows; bare: ${FEW} rows`,
        ours: `${ours.toFixed(2)} ms`,
        bare: `${bare.toFixed(2)} ms`,
        value: ours / bare,
        goal: atMost(1.5),
      })
    }
    return measurements
  } finally {
    await many.close()
    await few.close()
    await rm(folder, { recursive: true })
  }
}

/** The median time of the query on each, in ms. */
async function compare(query: (db: Db) => Promise<unknown>, dbs: { ours: Db; bare: Db }) {
  const times: { ours: number[]; bare: number[] } = { ours: [], bare: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const which of ['ours', 'bare'] as const) {
      const start = performance.now()
      await query(dbs[which])
      times[which].push(performance.now() - start)
    }
  }
  return { ours: percentile(times.ours, 0.5), bare: percentile(times.bare, 0.5) }
}

async function filled(dataDir: string, rows: number): Promise<Database> {
  const database = await openDatabase({ dataDir }, createLogger({ level: 'silent' }))
  await migrate(database)
  await database.db.transaction().execute((tx) => saveRelayer(tx, relayer()))
  await fill(database.db, rows)
  return database
}

function relayer(): Parameters<typeof saveRelayer>[1] {
  return {
    id: RELAYER,
    name: 'Main',
    network: 'anvil',
    networkType: 'evm',
    address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    signerId: 'dev',
    paused: false,
    policies: {},
  }
}

/** Confirmed transactions with one attempt each; the newest are pending or on their way. */
async function fill(db: Db, rows: number): Promise<void> {
  await sql`
    insert into transactions (id, relayer_id, network, from_address, status, purpose, request, source_account, nonce, current_attempt,
      cost, created_at)
    select md5(n::text)::uuid::text, ${RELAYER}, 'anvil', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      case when n <= ${rows - OPEN}::bigint then 'confirmed' when n % 2 = 0 then 'submitted' else 'pending' end,
      'request', ${JSON.stringify(encodeRequest(REQUEST))}::jsonb,
      case when n <= ${rows - OPEN}::bigint or n % 2 = 0 then '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' end,
      case when n <= ${rows - OPEN}::bigint or n % 2 = 0 then n end, 1, 0,
      now() - (${rows}::bigint - n) * interval '10 seconds'
    from generate_series(1, ${rows}::bigint) as n`.execute(db)
  await sql`
    insert into attempts (transaction_id, number, kind, source_account, nonce, hash, raw, draft, signature, outcome)
    select id, 1, 'send', source_account, nonce, '0x' || md5(id) || md5(position::text), decode(repeat('02', 110), 'hex'),
      ${JSON.stringify(encodeDraft(DRAFT))}::jsonb,
      jsonb_build_object('r', md5(id), 's', md5(id), 'v', 27, 'sig', md5(id)), 'mined'
    from transactions where nonce is not null`.execute(db)
  await sql`
    insert into transaction_terms (relayer_id, term, position, asset, amount)
    select relayer_id, unnest(array['asset:native', 'requested_by:root', 'reference:invoice-' || position,
      'to:' || case when position = 1 then ${RARE} else lower(${RECEIVER}) end]), position, 'native', 1
    from transactions`.execute(db)
  await sql`
    insert into finished_counts (relayer_id, status, count)
    values (${RELAYER}, 'confirmed', ${rows - OPEN}::bigint)`.execute(db)
  await sql`analyze`.execute(db)
}
