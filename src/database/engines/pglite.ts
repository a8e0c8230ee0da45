import { MemoryFS, PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { Kysely } from 'kysely'
import { createTurns, type TurnKind } from '../../lib/concurrency/turns.ts'
import type { Durability } from '../durability.ts'
import type { Database } from '../engine.ts'
import { type QueryObserver, reportQueries } from '../query-observer.ts'
import type { Schema } from '../schema.ts'
import { TYPE_PARSERS } from '../types.ts'
import { boundLog } from './bound-log.ts'
import { DatabaseFiles } from './database-files.ts'
import { createDataFolder, prepareDatabaseFolder } from './database-folder.ts'
import { lockDirectory } from './directory-lock.ts'
import { EmbeddedDialect } from './embedded-dialect.ts'
import { Engine } from './engine.ts'
import { INITIAL_DATABASE, initialVersion, readInitialDatabase, unpackDatabase } from './initial-database.ts'

const MEMORY = 'memory://'

interface PGliteOptions {
  /** The folder, created with mode 0700 when missing; `memory://` stores nothing on disk. */
  readonly dataDir: string
  readonly durability: Durability
  /** Receives a report of each statement. */
  readonly observer?: QueryObserver | undefined
}

/**
 * Opens PostgreSQL inside this process. There is one connection: a transaction makes every other query wait, and those of requests come
 * before those of workers.
 * @throws DirectoryInUseError when another process has `dataDir` open
 */
export async function openPGlite({ dataDir, durability, observer }: PGliteOptions): Promise<Database> {
  if (dataDir.startsWith(MEMORY))
    return wrap(await create(new MemoryFS(MEMORY), 'relaxed'), { observer, unlock: async () => {} })
  createDataFolder(dataDir)
  const unlock = await lockDirectory(dataDir)
  try {
    const folder = await prepareDatabaseFolder({ dataDir, durability, create: createFiles })
    const pglite = await create(new DatabaseFiles(folder, durability), durability)
    const unbound = boundLog(pglite)
    const release = async () => {
      unbound()
      await unlock()
    }
    return wrap(pglite, { observer, unlock: release })
  } catch (error) {
    await unlock()
    throw error
  }
}

/** Turns fsync off (`postgres -F`). */
const WITHOUT_SYNC = '-F'

/**
 * Settings of the engine. `wal_sync_method`: the engine's runtime ignores the system call fdatasync. `shared_buffers`: the default of
 * 160 MB is memory of this process, and the operating system caches the files as well. `jit`: the engine has none. `min_wal_size`: the
 * engine refuses less than two segments, which have 16 MB in a database of its default.
 */
const SETTINGS = [
  'wal_sync_method=fsync',
  'shared_buffers=16MB',
  'jit=off',
  'max_wal_size=48MB',
  'min_wal_size=32MB',
]

/** A new database writes its log in segments of this size, in MB: the log is bounded by whole segments. */
export const CREATION: readonly string[] = ['--wal-segsize=4']

/** Writes the files of a new database into a folder, which does not exist yet. */
async function createFiles(folder: string): Promise<void> {
  const initial = readInitialDatabase(INITIAL_DATABASE, initialVersion(CREATION))
  if (initial === undefined) await createWithEngine(folder)
  else unpackDatabase(initial, folder)
}

/** Lets the engine create a database, which takes it seconds. */
async function createWithEngine(folder: string): Promise<void> {
  const pglite = await create(new NodeFS(folder), 'relaxed')
  await pglite.close()
}

async function create(fs: MemoryFS | NodeFS, durability: Durability): Promise<PGlite> {
  const defaults = PGlite.defaultStartParams.filter((one) => durability === 'relaxed' || one !== WITHOUT_SYNC)
  const engine = new Engine({
    fs,
    parsers: { ...TYPE_PARSERS },
    startParams: [...defaults, ...SETTINGS.flatMap((setting) => ['-c', setting])],
    initDbStartParams: [...CREATION],
  })
  await engine.waitReady
  return engine
}

interface Wrapping {
  readonly observer: QueryObserver | undefined
  readonly unlock: () => Promise<void>
}

function wrap(pglite: PGlite, { observer, unlock }: Wrapping): Database {
  const turns = createTurns()
  const open = (kind: TurnKind) =>
    new Kysely<Schema>({ dialect: new EmbeddedDialect({ pglite, turns, kind }), ...reportQueries(observer) })
  const db = open('ordinary')
  const requests = open('urgent')
  let closing: Promise<void> | undefined
  return {
    engine: 'pglite',
    db,
    requests,
    async listen(channel, handler) {
      // The name is quoted, because the engine converts an unquoted name to lower case and pg_notify does not. The function that `listen`
      // returns omits the quotes, so it is not used.
      const name = `"${channel}"`
      // The engine notifies before the commit has returned, so that who has committed a change finds everybody informed of it.
      await pglite.listen(name, handler)
      return () => pglite.unlisten(name, handler)
    },
    close() {
      closing ??= shut([db, requests], pglite).finally(unlock)
      return closing
    },
  }
}

async function shut(users: readonly Kysely<Schema>[], pglite: PGlite): Promise<void> {
  for (const db of users) await db.destroy()
  // Kysely closes the engine only if it ran a query.
  if (!pglite.closed) await pglite.close()
}
