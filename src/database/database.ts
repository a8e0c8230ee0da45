import type { Kysely } from 'kysely'
import type { Logger } from '../log.ts'
import { openPGlite } from './pglite.ts'
import { openPostgres } from './postgres.ts'
import type { Schema } from './schema.ts'

/** One statement with values, or several without, outside of any transaction of ours. Rows of all of them together. */
// biome-ignore lint/suspicious/noExplicitAny: the shape that pg-boss asks of a database
export type RunScript = (text: string, values?: unknown[]) => Promise<{ rows: any[] }>

/** The store of everything, embedded or not. Both engines speak the same SQL and give the same JavaScript values. */
export interface Database {
  readonly engine: 'pglite' | 'postgres'
  readonly db: Kysely<Schema>
  /**
   * Calls `handler` with the payload of each notification on `channel`. After a lost connection it is called once with
   * an empty payload, because something may have been missed. The result ends the listening.
   */
  listen(channel: string, handler: (payload: string) => void): Promise<() => Promise<void>>
  /** Statements of a library that brings its own; see `RunScript`. */
  readonly runScript: RunScript
  /** Ends all connections. Nothing may be asked afterwards. */
  close(): Promise<void>
}

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
