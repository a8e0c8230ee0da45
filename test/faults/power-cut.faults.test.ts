import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { amcheck } from '@electric-sql/pglite/contrib/amcheck'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Durability } from '../../src/database/durability.ts'
import { openPGlite } from '../../src/database/engines/embedded/pglite.ts'
import { startEngineHere } from '../../src/database/engines/embedded/start-engine.ts'
import { migrate } from '../../src/database/migrate.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { cutPower } from '../support/disk/cut-power.ts'
import { type DiskRecord, recordDisk } from '../support/disk/recorded-disk.ts'
import { createRandom } from '../support/random.ts'
import { RECEIVER, type Service, startService } from '../support/service.ts'

/** Cuts of one run. `POWER_CUTS` sets another number; the nightly workflow makes 60. */
const CUTS = Number(process.env.POWER_CUTS ?? 6)

/** Requests of the load, and how many of them are under way at a time. */
const REQUESTS = 300
const CONCURRENCY = 10

/** A record has what this thread does to files, so the engine runs in it. */
const RECORDED = startEngineHere

/** An answered request. */
interface Answered {
  readonly id: string
  /** The time of the record at which the answer had arrived. */
  readonly at: number
}

let anvil: Anvil
let folder: string
let record: DiskRecord
const answered: Answered[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  folder = mkdtempSync(join(tmpdir(), 'power-'))
  record = recordDisk(folder)
  const service = await startService({
    rpcUrls: [anvil.url],
    dataDir: folder,
    env: { DURABILITY: 'full' },
    startEngine: RECORDED,
  })
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => send(service)))
  } finally {
    await service.stop()
    record.stop()
  }
}, 120_000)
afterAll(async () => {
  await anvil.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function send({ api }: Service): Promise<void> {
  for (let count = 0; count < REQUESTS / CONCURRENCY; count += 1) {
    const { status, body } = await api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })
    expect(status).toBe(200)
    answered.push({ id: body.data.id, at: record.now() })
  }
}

test(
  `after ${CUTS} cuts of the power, everything that was answered is there, and the database is sound`,
  async () => {
    const random = createRandom(Number(process.env.POWER_SEED ?? 1))
    const [first] = answered
    const target = mkdtempSync(join(tmpdir(), 'power-after-'))
    for (let cut = 1; cut <= CUTS; cut += 1) {
      const at = random.int(first?.at ?? 0, record.now())
      cutPower({ record, at, random: random.fork(`cut ${cut}`), target })
      const { ids, faults } = await inspect(target)
      const expected = answered.filter((one) => one.at <= at)
      expect({ cut, at, faults, lost: expected.filter(({ id }) => !ids.has(id)) }).toEqual({
        cut,
        at,
        faults: [],
        lost: [],
      })
    }
    rmSync(target, { recursive: true, force: true })
    expect(answered).toHaveLength(REQUESTS)
  },
  CUTS * 20_000,
)

test(
  `after ${CUTS} cuts of the power before the first answer, the service starts, and the database is sound`,
  async () => {
    const random = createRandom(Number(process.env.POWER_SEED ?? 1)).fork('first start')
    const target = mkdtempSync(join(tmpdir(), 'power-after-'))
    for (let cut = 1; cut <= CUTS; cut += 1) {
      const at = random.int(0, answered[0]?.at ?? 0)
      cutPower({ record, at, random: random.fork(`cut ${cut}`), target })
      const database = await openPGlite({ dataDir: target, durability: 'full' })
      await migrate(database)
      await database.close()
      expect({ cut, at, ...(await inspect(target)) }).toEqual({ cut, at, ids: new Set(), faults: [] })
    }
    rmSync(target, { recursive: true, force: true })
  },
  CUTS * 20_000,
)

test('a database that was written with DURABILITY=relaxed survives a cut as soon as it is open with full', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'power-relaxed-'))
  const target = mkdtempSync(join(tmpdir(), 'power-after-'))
  const relaxed = recordDisk(dataDir)
  const open = (durability: Durability) => openPGlite({ dataDir, durability, startEngine: RECORDED })
  try {
    await (await open('full')).close()
    const written = await open('relaxed')
    await sql`create table kept as select number from generate_series(1, 10000) as number`.execute(written.db)
    await written.close()
    await (await open('full')).close()
  } finally {
    relaxed.stop()
  }
  cutPower({ record: relaxed, at: relaxed.now(), random: createRandom(1), target })
  const database = await openPGlite({ dataDir: target, durability: 'full' })
  const { rows } = await sql`select sum(number)::int as sum from kept`.execute(database.db)
  expect(rows).toEqual([{ sum: 50_005_000 }])
  await database.close()
  for (const one of [dataDir, target]) rmSync(one, { recursive: true, force: true })
}, 60_000)

/** Opens the database, which replays its log, and checks every index and every table against each other (amcheck). */
async function inspect(folder: string): Promise<{ ids: ReadonlySet<string>; faults: readonly unknown[] }> {
  const database = await PGlite.create({ dataDir: join(folder, 'pglite'), extensions: { amcheck } })
  try {
    const { rows } = await database.query<{ id: string }>('select id from transactions')
    await database.exec('create extension if not exists amcheck')
    await database.query(
      `select bt_index_check(oid, true) from pg_class where relkind = 'i' and relam = 403 and relpersistence = 'p'`,
    )
    const faults = await database.query(
      `select relname, checked.* from pg_class, verify_heapam(pg_class.oid) as checked where relkind = 'r' and relpersistence = 'p'`,
    )
    // amcheck knows no hash index, so what that of the events finds is compared with what the table has.
    await database.exec('set enable_seqscan = off')
    const lost = await database.query(`
      select held.* from (select transaction_id, count(*) from events where transaction_id is not null group by 1) held
      where count <> (select count(*) from events where transaction_id = held.transaction_id)`)
    return { ids: new Set(rows.map(({ id }) => id)), faults: [...faults.rows, ...lost.rows] }
  } finally {
    await database.close()
  }
}
