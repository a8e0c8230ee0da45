import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** Runs one statement with values, or several without, outside any database transaction. Returns the rows of all statements. */
export type RunScript = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

/** The database, embedded or not. Both engines use the same SQL and return the same JavaScript values. */
export interface Database {
  readonly engine: 'pglite' | 'postgres'
  readonly db: Kysely<Schema>
  /**
   * Calls `handler` with the payload of each notification on `channel`. After a lost connection it calls it once with an empty payload,
   * because notifications may have been missed. The returned function stops listening.
   */
  listen(channel: string, handler: (payload: string) => void): Promise<() => Promise<void>>
  /** Runs the statements of a library, such as pg-boss; see `RunScript`. */
  readonly runScript: RunScript
  /** Ends all connections. No query may follow. */
  close(): Promise<void>
}
