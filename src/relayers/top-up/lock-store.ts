import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../database/schema.ts'

/**
 * Makes changes of treasuries wait for each other until the commit: two changes at the same time could close a circle that neither sees.
 * Lock order: before any relayer.
 */
export async function lockTopUps(tx: Transaction<Schema>): Promise<void> {
  await sql`lock table top_ups in share row exclusive mode`.execute(tx)
}
