import { sql } from 'kysely'
import type { Db } from './schema.ts'

/**
 * Sends a notification to all listeners of `channel`. Inside a database transaction it is sent at the commit, and never after a rollback.
 * `payload` has at most 7999 bytes (a limit of PostgreSQL); equal notifications of one transaction are sent once.
 */
export async function notify(db: Db, channel: string, payload = ''): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db)
}
