import { sql } from 'kysely'
import type { Tx } from '../../database/schema.ts'

/**
 * Makes changes of treasuries wait for each other until the commit: two changes at the same time could close a circle that neither sees.
 * Lock order: before any relayer.
 */
export async function lockTopUps(tx: Tx): Promise<void> {
  await sql`lock table top_ups in share row exclusive mode`.execute(tx)
}
