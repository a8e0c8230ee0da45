import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from './db.ts'
import { transact } from './locks/transact.ts'

/** The levels of `DURABILITY`. `full`: an answered commit survives a power cut. `relaxed`: it survives a killed process only. */
export const DURABILITIES = ['full', 'relaxed'] as const

export type Durability = (typeof DURABILITIES)[number]

/**
 * Reads from the settings of the database what an answered commit survives: those of PostgreSQL are its operator's. Rejects with the
 * driver's error when the database does not answer.
 */
export async function readDurability(db: Db): Promise<Durability> {
  const { rows } = await sql<{ synced: boolean }>`
    select current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as synced
  `.execute(db)
  return rows[0]?.synced ? 'full' : 'relaxed'
}

/**
 * Writes to the database and commits, which ends when the write is as safe as an accepted request. Nothing of it stays. Rejects when the
 * database takes no writes.
 */
export async function writeProbe(db: Db): Promise<void> {
  const name = `probe:${randomUUID()}`
  await transact(db, async (tx) => {
    await tx
      .insertInto('leases')
      .values({ name, owner: name, expires_at: sql<Date>`now()`, fence: 1n })
      .execute()
    await tx.deleteFrom('leases').where('name', '=', name).execute()
  })
}
