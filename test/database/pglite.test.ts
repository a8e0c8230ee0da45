import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { DirectoryInUseError, lockDirectory } from '../../src/database/engines/directory-lock.ts'
import { createLogger } from '../../src/log.ts'
import { describeAudit } from './audit-cases.ts'
import { describeDatabase } from './conformance.ts'
import { describeStatementQueue } from './statement-queue-cases.ts'
import { describeUpgrade } from './upgrade.ts'

const log = createLogger({ level: 'silent' })

describe('pglite', () => {
  let unmigrated: string

  // A new data folder gets a migrated database, and these tests migrate one.
  beforeAll(async () => {
    unmigrated = await mkdtemp(join(tmpdir(), 'relayer-unmigrated-'))
    const database = await PGlite.create({ dataDir: join(unmigrated, 'pglite') })
    await database.close()
  }, 60_000)
  afterAll(() => rm(unmigrated, { recursive: true }))

  const setUp = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'relayer-pglite-'))
    const dataDir = join(folder, 'data')
    await cp(unmigrated, dataDir, { recursive: true })
    return {
      open: () => openDatabase({ dataDir }, log),
      remove: () => rm(folder, { recursive: true }),
    }
  }
  describeDatabase(setUp)
  describeUpgrade(setUp)
  describeAudit(setUp)
  describeStatementQueue(setUp, { engine: 'pglite' })
})

describe('the data folder', () => {
  const inFolder = async (body: (folder: string) => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), 'relayer-lock-'))
    try {
      await body(folder)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  test(
    'is private, and refused to a second opener until the first closes',
    () =>
      inFolder(async (folder) => {
        const dataDir = join(folder, 'data')
        const first = await openDatabase({ dataDir }, log)
        expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
        await expect(openDatabase({ dataDir }, log)).rejects.toThrow(`in use by process ${process.pid}`)
        await first.close()
        const unlock = await lockDirectory(dataDir)
        await unlock()
      }),
    60_000,
  )

  test('of an earlier release, with the settings that the engine has by itself, opens', () =>
    inFolder(async (folder) => {
      const earlier = await PGlite.create({ dataDir: join(folder, 'pglite') })
      await earlier.exec('create table kept as select 1 as number')
      await earlier.close()
      const database = await openDatabase({ dataDir: folder }, log)
      const { rows } = await sql`select number from kept`.execute(database.db)
      expect(rows).toEqual([{ number: 1 }])
      await database.close()
    }))

  test('is replaced when its process is dead', () =>
    inFolder(async (folder) => {
      const child = spawn(process.execPath, ['-e', ''])
      await once(child, 'exit')
      await writeFile(join(folder, 'relayer.lock.3'), JSON.stringify({ pid: child.pid, started: '1' }))
      const unlock = await lockDirectory(folder)
      await expect(lockDirectory(folder)).rejects.toThrow(DirectoryInUseError)
      await unlock()
    }))

  test('is replaced when the pid belongs to another process', () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, 'relayer.lock.3'), JSON.stringify({ pid: process.pid, started: '1' }))
      await (await lockDirectory(folder))()
    }))

  test.each([
    ['nothing', ''],
    ['half a lock', '{"pid":'],
    ['another shape', '[]'],
  ])('is taken over when the lock holds %s', (_what, text) =>
    inFolder(async (folder) => {
      await writeFile(join(folder, 'relayer.lock.3'), text)
      await (await lockDirectory(folder))()
    }),
  )

  test('is awaited for as long as its process may take to end', () =>
    inFolder(async (folder) => {
      const child = spawn('sleep', ['0.5'])
      const ended = once(child, 'exit')
      await once(child, 'spawn')
      const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
      const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
      await writeFile(join(folder, 'relayer.lock.1'), JSON.stringify({ pid: child.pid, started }))
      await expect(lockDirectory(folder)).rejects.toThrow(`in use by process ${child.pid}`)
      await (await lockDirectory(folder, 60_000))()
      expect(await ended).toEqual([0, null])
    }))

  test('goes to one of many who race for a dead lock', () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, 'relayer.lock.3'), JSON.stringify({ pid: process.pid, started: '1' }))
      const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDirectory(folder)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await readdir(folder)).toHaveLength(1)
    }))
})
