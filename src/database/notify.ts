import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Wakes everyone who listens on `channel`. Inside a database transaction it fires on commit and never after a rollback.
 * `payload` is at most 7999 bytes (a limit of PostgreSQL); equal notifications of one transaction are sent once.
 */
export async function notify(db: Kysely<Schema>, channel: string, payload = ''): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db)
}
