import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** One statement with values, or several without, outside of any transaction of ours. Rows of all of them together. */
export type RunScript = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>

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
