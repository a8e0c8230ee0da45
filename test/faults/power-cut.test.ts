import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { amcheck } from '@electric-sql/pglite/contrib/amcheck'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createDataDir } from '../support/data-dir.ts'
import { cutPower } from '../support/disk/cut-power.ts'
import { type DiskRecord, recordDisk } from '../support/disk/recorded-disk.ts'
import { RECEIVER, type Service, startService } from '../support/service.ts'
import { createRandom } from './random.ts'

/** Cuts of one run. `POWER_CUTS` sets another number. */
const CUTS = Number(process.env.POWER_CUTS ?? 12)

/** Requests of the load, and how many of them are under way at a time. */
const REQUESTS = 300
const CONCURRENCY = 10

/** An answered request. */
interface Answered {
  readonly id: string
  /** The time of the record at which the answer had arrived. */
  readonly at: number
}

let anvil: Anvil
let folder: string
let before: string
let record: DiskRecord
const answered: Answered[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--block-time', '1'] })
  folder = await createDataDir()
  before = mkdtempSync(join(tmpdir(), 'power-before-'))
  cpSync(join(folder, 'pglite'), before, { recursive: true })
  record = recordDisk(join(folder, 'pglite'))
  const service = await startService({ rpcUrls: [anvil.url], dataDir: folder, env: { DURABILITY: 'full' } })
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => send(service)))
  } finally {
    await service.stop()
    record.stop()
  }
}, 120_000)
afterAll(async () => {
  await anvil.stop()
  for (const one of [folder, before]) rmSync(one, { recursive: true, force: true })
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
      cutPower({
        before,
        root: join(folder, 'pglite'),
        record,
        at,
        random: random.fork(`cut ${cut}`),
        target,
      })
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

/** Opens the database, which replays its log, and checks every index and every table against each other (amcheck). */
async function inspect(dataDir: string): Promise<{ ids: ReadonlySet<string>; faults: readonly unknown[] }> {
  const database = await PGlite.create({ dataDir, extensions: { amcheck } })
  try {
    const { rows } = await database.query<{ id: string }>('select id from transactions')
    await database.exec('create extension if not exists amcheck')
    await database.query(
      `select bt_index_check(oid, true) from pg_class where relkind = 'i' and relam = 403 and relpersistence = 'p'`,
    )
    const faults = await database.query(
      `select relname, checked.* from pg_class, verify_heapam(pg_class.oid) as checked where relkind = 'r' and relpersistence = 'p'`,
    )
    return { ids: new Set(rows.map(({ id }) => id)), faults: faults.rows }
  } finally {
    await database.close()
  }
}
