import { type Kysely, sql } from 'kysely'
import type { Schema } from '../database/schema.ts'

/** Events numbered in one database transaction: bounds how long the lock is held. */
const BATCH = 1_000

/** Numbers everything that is committed, and tells the last number that was ever given. */
export async function lastNumber(db: Kysely<Schema>): Promise<bigint> {
  let more = true
  while (more) more = (await numberBatch(db)).more
  const { last_number } = await db.selectFrom('event_log').select('last_number').executeTakeFirstOrThrow()
  return last_number
}

/**
 * Gives the next numbers to committed events that have none, and tells whether any are left. Ids are given before the commit,
 * so a reader that went by them would step over an event whose transaction commits late. Numbers are given afterwards,
 * under the lock of one row: whatever has a number up to n is visible to everybody who sees n, and nothing is ever put in
 * between. Of one transaction the events keep their order, because a later change waits for the commit of the earlier.
 */
export async function numberBatch(db: Kysely<Schema>, batch = BATCH): Promise<{ more: boolean }> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from events where number is null) as found`.execute(db)
  if (!rows[0]?.found) return { more: false }
  const count = await db.transaction().execute(async (tx) => {
    const { last_number } = await tx
      .selectFrom('event_log')
      .select('last_number')
      .forUpdate()
      .executeTakeFirstOrThrow()
    // A statement of its own: its snapshot begins after the lock, so it sees what the previous holder numbered.
    const result = await sql`
      update events set number = ${last_number}::bigint + fresh.rank
      from (
        select id, row_number() over (order by id) as rank
        from (select id from events where number is null order by id limit ${batch}) as oldest
      ) as fresh
      where events.id = fresh.id`.execute(tx)
    const numbered = result.numAffectedRows ?? 0n
    await tx
      .updateTable('event_log')
      .set({ last_number: last_number + numbered })
      .execute()
    return numbered
  })
  return { more: count === BigInt(batch) }
}
