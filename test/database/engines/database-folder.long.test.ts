import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Durability } from '../../../src/database/durability.ts'
import { prepareDatabaseFolder } from '../../../src/database/engines/embedded/database-folder.ts'
import {
  packDatabase,
  readInitialDatabase,
  unpackDatabase,
} from '../../../src/database/engines/embedded/initial-database.ts'
import { makeDatabase } from '../../../src/database/engines/embedded/make-database.ts'
import { openPGlite } from '../../../src/database/engines/embedded/pglite.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { recordDisk } from '../../support/disk/recorded-disk.ts'

describe('the folder of the database', () => {
  let dataDir: string

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'relayer-folder-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  /** Writes the files that count here. */
  async function create(folder: string): Promise<void> {
    mkdirSync(join(folder, 'base'), { recursive: true })
    writeFileSync(join(folder, 'PG_VERSION'), '18\n')
    writeFileSync(join(folder, 'base', 'table'), 'rows')
  }

  const prepare = (durability: Durability = 'full') => prepareDatabaseFolder({ dataDir, durability, create })

  /** Counts the files and folders that a preparation syncs. */
  async function syncsOf(durability: Durability): Promise<number> {
    const record = recordDisk(dataDir)
    const before = record.now()
    try {
      await prepare(durability)
    } finally {
      record.stop()
    }
    return record.now() - before
  }

  test.each([
    ['standby.signal', (path: string) => writeFileSync(path, '')],
    ['recovery.signal', (path: string) => writeFileSync(path, '')],
    ['backup_label', (path: string) => writeFileSync(path, '')],
    ['a file of another kind', (path: string) => writeFileSync(path, '')],
    ['pg_wal', (path: string) => symlinkSync('/tmp', path)],
    ['pg_tblspc/1', (path: string) => mkdirSync(path, { recursive: true })],
  ])('refuses %s, which the service did not make', async (name, plant) => {
    const folder = await prepare()
    const path = join(folder, name)
    plant(path)
    await expect(prepare()).rejects.toThrow(
      `${path} is no file of the embedded database, and the service did not make it.`,
    )
    rmSync(path, { recursive: true })
    expect(await prepare()).toBe(folder)
  })

  test('refuses a folder that every user can change', async () => {
    const folder = await prepare()
    chmodSync(folder, 0o777)
    await expect(prepare()).rejects.toThrow('can be written by every user of this machine (mode 0777)')
    chmodSync(folder, 0o770)
    expect(await prepare()).toBe(folder)
  })

  test('a process that died while it made a database leaves nothing that the next one uses', async () => {
    const dead = prepareDatabaseFolder({
      dataDir,
      durability: 'full',
      create: async (folder) => {
        mkdirSync(folder)
        writeFileSync(join(folder, 'PG_VERSION'), '18\n')
        throw new Error('killed')
      },
    })
    await expect(dead).rejects.toThrow('killed')
    expect(existsSync(join(dataDir, 'pglite'))).toBe(false)
    const folder = await prepare()
    expect(readFileSync(join(folder, 'base', 'table'), 'utf8')).toBe('rows')
    expect(existsSync(join(dataDir, 'pglite.new'))).toBe(false)
  })

  test('an empty folder of that name becomes the database', async () => {
    mkdirSync(join(dataDir, 'pglite'))
    await prepare()
    expect(existsSync(join(dataDir, 'pglite', 'PG_VERSION'))).toBe(true)
  })

  test('files without a database are never replaced', async () => {
    mkdirSync(join(dataDir, 'pglite'))
    writeFileSync(join(dataDir, 'pglite', 'mine'), 'kept')
    await expect(prepare()).rejects.toThrow(
      /pglite is not a complete database: PG_VERSION is missing, and there are mine\. Restore/,
    )
    expect(readFileSync(join(dataDir, 'pglite', 'mine'), 'utf8')).toBe('kept')
  })

  test('the files are synced once, and again after an opener that does not sync', async () => {
    await prepare()
    expect(await syncsOf('full')).toBe(0)
    await prepare('relaxed')
    expect(await syncsOf('full')).toBeGreaterThan(0)
    expect(await syncsOf('full')).toBe(0)
  })

  test('a copy of the folder is synced, although the mark was copied with it', async () => {
    await prepare()
    cpSync(join(dataDir, 'pglite'), join(dataDir, 'copy'), { recursive: true })
    rmSync(join(dataDir, 'pglite'), { recursive: true })
    cpSync(join(dataDir, 'copy'), join(dataDir, 'pglite'), { recursive: true })
    expect(await syncsOf('full')).toBeGreaterThan(0)
  })

  test('a packed database is unpacked with every file, for the version that made it', async () => {
    const folder = await prepare()
    const file = join(dataDir, 'initial.gz')
    packDatabase(folder, { file, madeBy: 'engine 1' })
    const initial = readInitialDatabase(file, 'engine 1')
    if (initial === undefined) throw new Error('not read')
    unpackDatabase(initial, join(dataDir, 'unpacked'))
    expect(readFileSync(join(dataDir, 'unpacked', 'base', 'table'), 'utf8')).toBe('rows')
    expect(readFileSync(join(dataDir, 'unpacked', 'PG_VERSION'), 'utf8')).toBe('18\n')
    expect(readInitialDatabase(file, 'engine 2')).toBeUndefined()
  })

  test('a damaged or missing pack is not used', async () => {
    const folder = await prepare()
    const file = join(dataDir, 'initial.gz')
    expect(readInitialDatabase(file, 'engine 1')).toBeUndefined()
    packDatabase(folder, { file, madeBy: 'engine 1' })
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, bytes.length - 9))
    expect(readInitialDatabase(file, 'engine 1')).toBeUndefined()
    const middle = Math.floor(bytes.length / 2)
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle)
    writeFileSync(file, bytes)
    expect(readInitialDatabase(file, 'engine 1')).toBeUndefined()
  })
})

describe('a new database', () => {
  let dataDir: string

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'relayer-made-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  test('a database that was made for new folders is migrated, unused, and the only one of its folder', async () => {
    await makeDatabase(dataDir)
    const database = await openPGlite({ dataDir, durability: 'full' })
    try {
      expect(await migrate(database)).toEqual([])
      const databases = await sql<{ datname: string }>`select datname from pg_database`.execute(database.db)
      expect(databases.rows).toEqual([{ datname: 'postgres' }])
      expect(await database.db.selectFrom('relayers').selectAll().execute()).toEqual([])
      expect(await database.db.selectFrom('events').selectAll().execute()).toEqual([])
    } finally {
      await database.close()
    }
  })
})
