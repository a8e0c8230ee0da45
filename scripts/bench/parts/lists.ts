import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openDatabase } from '../../../src/database/database.ts'
import type { Database } from '../../../src/database/engine.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { createLogger } from '../../../src/log.ts'
import { saveRelayer } from '../../../src/relayers/store.ts'
import { listTransactions } from '../../../src/transactions/store/transactions-store.ts'
import {
  countInFlight,
  findDueInFlight,
  findDueRelayers,
  findPending,
  findWatched,
  reservedBy,
} from '../../../src/transactions/store/work-store.ts'
import { atMost, percentile, type Row } from '../measurement.ts'

/** What a history is compared with. */
const FEW = 1_000

/** Not final yet, in both: the history is to be long, not the work. */
const OPEN = 20

const ROUNDS = 200
const RELAYER = 'main'
const PAGE = { relayerId: RELAYER, offset: 0, limit: 10 }

type Db = Database['db']

const QUERIES: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  'list, first page': (db) => listTransactions(db, PAGE),
  'list, first page of one status': (db) => listTransactions(db, { ...PAGE, status: 'confirmed' }),
  'claim: who has work': (db) => findDueRelayers(db, new Date()),
  'claim: what is pending': (db) => findPending(db, RELAYER, 100),
  'claim: what is in flight': (db) => countInFlight(db, RELAYER),
  'claim: what is to be offered again': (db) => findDueInFlight(db, RELAYER, new Date()),
  'claim: what is watched': (db) => findWatched(db, [RELAYER]),
  'claim: what is reserved': (db) => reservedBy(db, RELAYER),
}

/** The queries of lists and workers on a long history, beside the same queries on a short one, in alternating rounds. */
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
    insert into transactions (id, relayer_id, network, from_address, status, intent, request, line, nonce, current_attempt,
      cost)
    select md5(n::text)::uuid::text, ${RELAYER}, 'anvil', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      case when n <= ${rows - OPEN}::bigint then 'confirmed' when n % 2 = 0 then 'submitted' else 'pending' end,
      'request', '{"to":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","value":"1","gas_limit":"21000"}',
      case when n <= ${rows - OPEN}::bigint or n % 2 = 0 then '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' end,
      case when n <= ${rows - OPEN}::bigint or n % 2 = 0 then n end, 1, 0
    from generate_series(1, ${rows}::bigint) as n`.execute(db)
  await sql`
    insert into attempts (transaction_id, number, kind, line, nonce, hash, raw, draft, signature, outcome)
    select id, 1, 'send', line, nonce, '0x' || md5(id) || md5(position::text), decode(repeat('02', 110), 'hex'),
      '{"to":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","value":"1","data":"0x","gas_limit":"21000","gas_price":"1"}',
      jsonb_build_object('r', md5(id), 's', md5(id), 'v', 27, 'sig', md5(id)), 'mined'
    from transactions where nonce is not null`.execute(db)
  await sql`
    insert into finished_counts (relayer_id, status, count)
    values (${RELAYER}, 'confirmed', ${rows - OPEN}::bigint)`.execute(db)
  await sql`analyze`.execute(db)
}
