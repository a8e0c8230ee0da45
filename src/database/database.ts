import type { Logger } from '../log.ts'
import type { Database } from './engine.ts'
import { openPGlite } from './pglite.ts'
import { openPostgres } from './postgres.ts'

export interface DatabaseOptions {
  /** `postgres://…`; absent means embedded. */
  readonly url?: string
  /** Folder of the embedded database, created with mode 0700 when missing; `memory://` keeps nothing. */
  readonly dataDir: string
}

/** Opens the PostgreSQL of `url`, or the embedded one in `dataDir`. Does not migrate. */
export function openDatabase(options: DatabaseOptions, log: Logger): Promise<Database> {
  if (options.url !== undefined) return openPostgres(options.url, log)
  return openPGlite(options.dataDir)
}
