import { Kysely, PostgresDialect, type PostgresPoolClient, sql } from 'kysely'
import { limitConcurrency } from '../../../lib/concurrency/limit-concurrency.ts'
import type { Database, Db, Schema } from '../../db.ts'
import type { Durability } from '../../durability.ts'
import { type QueryObserver, reportQueries } from '../../query-observer.ts'
import { createDataFolder, prepareDatabaseFolder } from './database-folder.ts'
import { lockDirectory } from './directory-lock.ts'
import { type EngineClient, openEngine } from './engine-client.ts'
import { INITIAL_DATABASE, initialVersion, readInitialDatabase, unpackDatabase } from './initial-database.ts'
import { isInMemory, type StartedEngine, startEngineHere, startEngineThread } from './start-engine.ts'

/** A killed process gets this many ms to end. A longer time delays the message that the folder is in use. */
const ENDING_MS = 2_000

interface PGliteOptions {
  /** The folder, created with mode 0700 when missing; `memory://` stores nothing on disk. */
  readonly dataDir: string
  readonly durability: Durability
  /** Receives a report of each statement. */
  readonly observer?: QueryObserver | undefined
  /** Default: in a separate thread. */
  readonly startEngine?: (() => StartedEngine | Promise<StartedEngine>) | undefined
}

/**
 * Opens PostgreSQL inside this process, in a separate thread. There is one session: a transaction makes every
 * other query wait. @throws DirectoryInUseError if another process has `dataDir` open
 */
export async function openPGlite({
  dataDir,
  durability,
  observer,
  startEngine = startEngineThread,
}: PGliteOptions): Promise<Database> {
  if (isInMemory(dataDir)) {
    const engine = await openEngine(await startEngineHere(), { durability: 'relaxed' })
    return wrap(engine, { observer, unlock: async () => {} })
  }
  createDataFolder(dataDir)
  let started: StartedEngine | undefined
  const onLost = async (error: Error) => {
    await started?.stop()
    // It is not handled, so the process ends without writing anything.
    throw error
  }
  const unlock = await lockDirectory(dataDir, { waitMs: ENDING_MS, onLost })
  // In the meantime the thread loads its program.
  started = await startEngine()
  try {
    const folder = await prepareDatabaseFolder({ dataDir, durability, create: createFiles })
    return wrap(await openEngine(started, { folder, durability }), { observer, unlock })
  } catch (error) {
    await started.stop()
    await unlock()
    throw isAbort(error) ? new DatabaseUnopenedError(dataDir, error) : error
  }
}

/** The engine of the embedded database ended while it opened the files. */
class DatabaseUnopenedError extends Error {
  override readonly name = 'DatabaseUnopenedError'

  constructor(dataDir: string, cause: Error) {
    super(
      `The embedded database in ${dataDir} cannot be opened. Check the free disk space and memory first; if they suffice, its files are damaged: keep the folder, and restore a backup as described in docs/backup-and-restore.md. The engine reported: ${cause.message}`,
      { cause },
    )
  }
}

/**
 * The messages with which the engine's program ends (Emscripten), and with which PGlite reports that it did
 * not start.
 */
function isAbort(error: unknown): error is Error {
  return error instanceof Error && /^(Aborted\(|PGlite failed to initialize)/.test(error.message)
}

/** Writes the files of a new database into a folder, which does not exist yet. */
async function createFiles(folder: string): Promise<void> {
  const initial = readInitialDatabase(INITIAL_DATABASE, initialVersion())
  if (initial !== undefined) return unpackDatabase(initial, folder)
  const { createWithEngine } = await import('./engine-host.ts')
  await createWithEngine(folder)
}

interface Wrapping {
  readonly observer: QueryObserver | undefined
  readonly unlock: () => Promise<void>
}

function wrap(engine: EngineClient, { observer, unlock }: Wrapping): Database {
  const oneAtATime = limitConcurrency(1)
  const db = new Kysely<Schema>({
    dialect: createEmbeddedDialect(engine, oneAtATime),
    ...reportQueries(observer),
  })
  const unbound = boundLog(db)
  let closing: Promise<void> | undefined

  async function shut(): Promise<void> {
    unbound()
    await db.destroy()
    // A query that still uses the session ends first.
    await oneAtATime(() => engine.close())
  }

  return {
    engine: 'pglite',
    db,
    async listen(channel, handler) {
      const forget = engine.onNotification(channel, handler)
      await sql`listen ${sql.id(channel)}`.execute(db)
      return async () => forget()
    },
    close() {
      closing ??= shut().finally(unlock)
      return closing
    },
  }
}

/** Kysely's dialect for the engine of this process, whose one session goes to one user at a time. */
function createEmbeddedDialect(
  engine: EngineClient,
  oneAtATime: ReturnType<typeof limitConcurrency>,
): PostgresDialect {
  const query = (text: string, parameters: readonly unknown[] = []) => engine.query(text, parameters)
  const connect = () =>
    new Promise<PostgresPoolClient>((resolve) => {
      void oneAtATime(
        () => new Promise<void>((release) => resolve({ query, release } as unknown as PostgresPoolClient)),
      )
    })
  return new PostgresDialect({ pool: { options: {}, connect, end: async () => {} } })
}

/**
 * The write-ahead log that a start would have to replay may grow to this size, in bytes, plus one second of
 * writing.
 */
const LONGEST_LOG_BYTES = 16 * 1024 * 1024

/** Time in ms between two checks of the log. */
const INTERVAL_MS = 1_000

/**
 * Makes a checkpoint whenever the write-ahead log has become long, until the returned function is called. The
 * engine makes none, because it has no background processes: the log, and the time of a start after a kill,
 * would grow without limit.
 */
function boundLog(db: Db): () => void {
  let isBusy = false
  const timer = setInterval(async () => {
    if (isBusy) return
    isBusy = true
    try {
      await checkpointIfLong(db)
    } catch {
      // A database that cannot write reports it to all its users.
    } finally {
      isBusy = false
    }
  }, INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function checkpointIfLong(db: Db): Promise<void> {
  const { rows } = await sql<{ bytes: string }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::text as bytes from pg_control_checkpoint()`.execute(
    db,
  )
  if (Number(rows[0]?.bytes) > LONGEST_LOG_BYTES) await sql`checkpoint`.execute(db)
}
