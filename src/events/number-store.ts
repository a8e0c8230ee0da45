import { type Kysely, sql } from 'kysely'
import type { Schema } from '../database/schema.ts'

/** The number of events that one database transaction numbers. It limits how long the lock is held. */
const BATCH = 1_000

/** Numbers all committed events and returns the last assigned number. */
export async function lastNumber(db: Kysely<Schema>): Promise<bigint> {
  let more = true
  while (more) more = (await numberBatch(db)).more
  const { last_number } = await db.selectFrom('event_log').select('last_number').executeTakeFirstOrThrow()
  return last_number
}

/**
 * Assigns the next numbers to committed events without one, and returns `more` when some are left. Ids are assigned before the commit, so a
 * reader that uses them would skip an event whose database transaction commits late. Numbers are assigned after the commit, under the lock
 * of one row: a reader that sees number n can see every event up to n, and no event is inserted before it later. Events of one transaction
 * keep their order, because a later change waits for the commit of the earlier one.
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
    // This is a separate statement: its snapshot starts after the lock, so it sees the numbers of the previous lock owner.
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
