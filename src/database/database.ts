import type { Logger } from '../log.ts'
import type { Database } from './engine.ts'
import { openPGlite } from './engines/pglite.ts'
import { openPostgres } from './engines/postgres.ts'

/** Selects the database engine. */
export interface DatabaseOptions {
  /** `postgres://…`; when absent, the embedded database is used. */
  readonly url?: string
  /** The folder of the embedded database, created with mode 0700 when missing; `memory://` stores nothing on disk. */
  readonly dataDir: string
}

/** Opens the PostgreSQL server at `url`, or the embedded database in `dataDir`, without migrations. */
export function openDatabase(options: DatabaseOptions, log: Logger): Promise<Database> {
  if (options.url !== undefined) return openPostgres(options.url, log)
  return openPGlite(options.dataDir)
}
