import { sql } from 'kysely'
import type { Visibility } from '../../access/principal.ts'
import { visibleRelayer } from '../../access/visibility-store.ts'
import type { Db } from '../../database/db.ts'

/**
 * A transaction can have its position this much before or after its time, in ms: from the time that a request
 * notes until its transaction is stored, and by as much as the clock of a database is set. With less, a
 * search by time could miss a transaction; with more, it reads more rows that do not fit.
 */
const TOLERANCE_MS = 600_000

interface Positions {
  /** The first position that can fit; the oldest transaction when it is absent. */
  readonly from?: bigint | undefined
  /** The position after the last one that can fit. */
  readonly before?: bigint | undefined
}

interface Period extends Pick<Positions, 'before'> {
  readonly createdFrom?: Date | undefined
  readonly createdBefore?: Date | undefined
}

/** Limits a search by time to the positions that can fit. */
export async function positionsWithin(
  db: Db,
  { createdFrom, createdBefore, before }: Period,
): Promise<Positions> {
  const at = (time: Date, tolerance: number) => findPositionAt(db, new Date(time.getTime() + tolerance))
  const [from, end] = await Promise.all([
    createdFrom && at(createdFrom, -TOLERANCE_MS),
    createdBefore && at(createdBefore, TOLERANCE_MS),
  ])
  return { from, before: before === undefined || (end !== undefined && end < before) ? end : before }
}

/**
 * Finds the first position from which transactions are of this time or later; the one after the newest if
 * none is, undefined without any. Times grow with positions, so it halves the positions in question at each
 * step: an index over times would get an entry at every step of every transaction.
 */
async function findPositionAt(db: Db, time: Date): Promise<bigint | undefined> {
  const { rows } = await sql<{ position: bigint | null }>`
    with recursive halved (first, last) as (
      select min(position), max(position) + 1 from transaction_terms
      union all
      select case when probe.created_at < ${time} then probe.position + 1 else first end,
        case when probe.created_at < ${time} then last else (first + last) / 2 end
      from halved left join lateral (
        select t.created_at, t.position from transaction_terms term
        join transactions t on t.relayer_id = term.relayer_id and t.position = term.position
        where term.position >= (first + last) / 2 and term.position < last
        order by term.position limit 1
      ) probe on true
      where first < last
    )
    select max(first) as position from halved`.execute(db)
  return rows[0]?.position ?? undefined
}

/** Finds the position of a transaction in the order of acceptance; undefined if a key does not see it. */
export async function findPosition(db: Db, id: string, visibility: Visibility): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('transactions')
    .innerJoin('relayers', 'relayers.id', 'transactions.relayer_id')
    .select('position')
    .where('transactions.id', '=', id)
    .where(visibleRelayer(visibility))
    .executeTakeFirst()
  return row?.position
}
