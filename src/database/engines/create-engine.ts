import { MemoryFS, PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import type { Durability } from '../durability.ts'
import { DatabaseFiles } from './database-files.ts'
import { Engine } from './engine.ts'
import { CREATION } from './initial-database.ts'

/** Turns fsync off (`postgres -F`). */
const WITHOUT_SYNC = '-F'

/**
 * Settings of the engine. `wal_sync_method`: the engine's runtime ignores the system call fdatasync. `shared_buffers`: the default of
 * 160 MB is memory of this process, and the operating system caches the files as well; less than this costs a loaded service a twentieth of
 * its CPU, because the pages that its steps change are written and read again in between. `jit`: the engine has none. `random_page_cost`: the
 * default is for disks that turn, and prefers plans that read a page once to those that go through an index row by row; the pages of open
 * transactions are in memory. `min_wal_size`: the engine refuses less than two segments, which have 16 MB in a database of its default.
 */
const SETTINGS = [
  'wal_sync_method=fsync',
  'shared_buffers=24MB',
  'jit=off',
  'random_page_cost=1.1',
  'max_wal_size=48MB',
  'min_wal_size=32MB',
]

/** Selects what the engine opens. */
export interface EngineOptions {
  /** The folder of the database; absent for one that stores nothing on disk. */
  readonly folder?: string | undefined
  readonly durability: Durability
}

/** Starts the engine in this thread. */
export async function createEngine({ folder, durability }: EngineOptions): Promise<Engine> {
  const fs = folder === undefined ? new MemoryFS('memory://') : new DatabaseFiles(folder, durability)
  const isSynced = folder !== undefined && durability === 'full'
  return start(fs, isSynced)
}

/** Lets the engine create the files of a database in a folder that does not exist yet, which takes it seconds. */
export async function createWithEngine(folder: string): Promise<void> {
  const engine = await start(new NodeFS(folder), false)
  await engine.close()
}

async function start(fs: MemoryFS | NodeFS, isSynced: boolean): Promise<Engine> {
  const defaults = PGlite.defaultStartParams.filter((one) => !isSynced || one !== WITHOUT_SYNC)
  const engine = new Engine({
    fs,
    startParams: [...defaults, ...SETTINGS.flatMap((setting) => ['-c', setting])],
    initDbStartParams: [...CREATION],
  })
  await engine.waitReady
  return engine
}
