import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { DirectoryInUseError, lockDirectory } from '../../src/database/engines/embedded/directory-lock.ts'
import { createLogger } from '../../src/log.ts'
import { describeAudit } from './audit-cases.ts'
import { describeDatabase, describeEarlierDatabase } from './conformance.ts'

const log = createLogger({ level: 'silent' })

const LOCK_MODULE = resolve(import.meta.dirname, '../../src/database/engines/embedded/directory-lock.ts')

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
  describeEarlierDatabase(setUp)
  describeAudit(setUp)
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

  test('with the settings that the engine has by itself opens', { timeout: 60_000 }, () =>
    inFolder(async (folder) => {
      const plain = await PGlite.create({ dataDir: join(folder, 'pglite') })
      await plain.exec('create table kept as select 1 as number')
      await plain.close()
      const database = await openDatabase({ dataDir: folder }, log)
      const { rows } = await sql`select number from kept`.execute(database.db)
      expect(rows).toEqual([{ number: 1 }])
      await database.close()
    }),
  )

  test.each([
    ['the file of control data', 'global/pg_control'],
    ['the write-ahead log', 'pg_wal'],
  ])('says that the files of the database are damaged: %s', (_what, name) =>
    inFolder(async (dataDir) => {
      const database = await openDatabase({ dataDir }, log)
      await database.close()
      const path = join(dataDir, 'pglite', name)
      const files = (await stat(path)).isDirectory()
        ? (await readdir(path)).map((file) => join(path, file))
        : [path]
      for (const file of files) if ((await stat(file)).isFile()) await writeFile(file, Buffer.alloc(8_192, 7))
      await expect(openDatabase({ dataDir }, log)).rejects.toThrow('its files are damaged: keep the folder')
      await (await lockDirectory(dataDir))()
    }),
  )

  /** A process of its own that locks the folder, prints a word, and keeps the lock. */
  const locker = (folder: string) => [
    process.execPath,
    '--input-type=module',
    '-e',
    `import { lockDirectory } from ${JSON.stringify(LOCK_MODULE)}
     await lockDirectory(${JSON.stringify(folder)}).then(() => console.log('locked'), (error) => console.log(error.message))
     setInterval(() => {}, 1_000)`,
  ]

  async function run([command = '', ...args]: readonly string[]) {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const stop = async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    return { says: String(line), child, stop }
  }

  /** In another namespace of processes, as a container is: it has the process id 1, and sees none of the others. */
  const inContainer = (command: readonly string[]) => [
    ...(process.getuid?.() === 0 ? [] : ['sudo', '-n']),
    'unshare',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    ...command,
  ]

  test.each([
    ['of the same machine', (command: readonly string[]) => command],
    ['of another container', inContainer],
  ])('is refused to a process %s', (_what, place) =>
    inFolder(async (folder) => {
      const unlock = await lockDirectory(folder)
      const refused = await run(place(locker(folder)))
      expect(refused.says).toContain(`in use by process ${process.pid} on host ${hostname()}`)
      await refused.stop()
      await unlock()
      const other = await run(place(locker(folder)))
      expect(other.says).toBe('locked\n')
      await expect(lockDirectory(folder)).rejects.toThrow(DirectoryInUseError)
      await other.stop()
      await (await lockDirectory(folder, { waitMs: 10_000 }))()
    }),
  )

  test('is free immediately when its process was killed, and awaited for as long as that may take', () =>
    inFolder(async (folder) => {
      const other = await run(locker(folder))
      expect(other.says).toBe('locked\n')
      await expect(lockDirectory(folder)).rejects.toThrow(`in use by process ${other.child.pid}`)
      const waiting = lockDirectory(folder, { waitMs: 60_000 })
      await other.stop()
      await (await waiting)()
    }))

  test('goes to one of many who race for it', () =>
    inFolder(async (folder) => {
      const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDirectory(folder)))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }))

  test.each([
    ['removed', (path: string) => rm(path)],
    ['replaced', (path: string) => rename(path, `${path}.old`).then(() => writeFile(path, ''))],
  ])('tells its holder when the lock was %s', (_what, change) =>
    inFolder(async (folder) => {
      const { promise: lost, resolve: onLost } = Promise.withResolvers<Error>()
      const unlock = await lockDirectory(folder, { onLost })
      await change(join(folder, 'relayer.lock'))
      expect((await lost).message).toContain('was removed or replaced')
      await unlock()
    }),
  )
})
