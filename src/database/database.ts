import { ConfigError } from '../lib/fields.ts'
import { isMissingPackage } from '../lib/package-files.ts'
import type { Logger } from '../log.ts'
import type { Database } from './db.ts'
import type { Durability } from './durability.ts'
import type { StartedEngine } from './engines/embedded/start-engine.ts'
import type { QueryObserver } from './query-observer.ts'

/** Selects the database engine. */
export interface DatabaseOptions {
  /** `postgres://…`, with one or several hosts; if absent, the embedded database is used. */
  readonly url?: string
  /** Leads to the same database as `url` without a pooler, for notifications. Default: `url`. */
  readonly directUrl?: string
  /**
   * The folder of the embedded database, created with mode 0700 when missing; `memory://` stores nothing on
   * disk.
   */
  readonly dataDir: string
  /** The events that an answered commit of the embedded database survives. Default `full`. */
  readonly durability?: Durability
  /** The time in ms for which a PostgreSQL that cannot be reached is awaited. Default 0. */
  readonly waitMs?: number
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** Receives a report of each statement. */
  readonly observer?: QueryObserver | undefined
  /** Starts the engine of the embedded database. Default: in a separate thread. */
  readonly startEngine?: (() => StartedEngine | Promise<StartedEngine>) | undefined
}

/**
 * Opens the PostgreSQL server at `url`, or the embedded database in `dataDir`, without migrations. An engine
 * is loaded only where it is used.
 *
 * @throws ConfigError if the embedded database is needed but not installed
 */
export async function openDatabase(options: DatabaseOptions, log: Logger): Promise<Database> {
  const { url, directUrl, dataDir, durability = 'full', waitMs = 0, signal, observer, startEngine } = options
  if (url === undefined) {
    requireEmbedded()
    const { openPGlite } = await import('./engines/embedded/pglite.ts')
    return openPGlite({ dataDir, durability, observer, startEngine })
  }
  const { openPostgres } = await import('./engines/postgres/postgres.ts')
  return openPostgres({ url, directUrl, waitMs, signal, observer }, log)
}

/**
 * The embedded database is an optional dependency, because a deployment on PostgreSQL does not need it. Its
 * thread loads it.
 */
function requireEmbedded(): void {
  try {
    import.meta.resolve('@electric-sql/pglite')
  } catch (error) {
    if (!isMissingPackage(error, '@electric-sql/pglite')) throw error
    throw new ConfigError([
      'DATABASE_URL is missing, and the embedded database (the optional package @electric-sql/pglite) is not installed: set DATABASE_URL to a PostgreSQL, or install without --omit=optional',
    ])
  }
}
