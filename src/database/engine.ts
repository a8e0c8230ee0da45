import type { Db } from './schema.ts'

/** The database, embedded or not. Both engines use the same SQL and return the same JavaScript values. */
export interface Database {
  readonly engine: 'pglite' | 'postgres'
  readonly db: Db
  /** The same for the requests of callers, who wait for the answer: where all share a connection, these queries come before others. */
  readonly requests: Db
  /**
   * Calls `handler` with the payload of each notification on `channel`. After a lost connection it calls it once with an empty payload,
   * because notifications may have been missed. The returned function stops listening.
   */
  listen(channel: string, handler: (payload: string) => void): Promise<() => Promise<void>>
  /** Ends all connections. No query may follow. */
  close(): Promise<void>
}
