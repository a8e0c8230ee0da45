import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Resolves when the database answers; rejects with the driver's error when it does not. */
export async function ping(db: Kysely<Schema>): Promise<void> {
  await sql`select 1`.execute(db)
}
