import { sql } from 'kysely'
import type { Visibility } from '../access/visibility.ts'
import { visibleRelayer } from '../access/visibility-store.ts'
import type { Db } from '../database/schema.ts'

/** The transactions of a report. */
export interface ReportQuery {
  /** The earliest time of confirmation, included. */
  readonly from: Date
  /** The end of the time, excluded. */
  readonly to: Date
  readonly relayerId?: string | undefined
  readonly visibility: Visibility
}

/** Finds the ids of up to `limit` transactions that the chain included for good in this time, in the order of acceptance. */
export async function findConfirmed(
  db: Db,
  { from, to, relayerId, visibility }: ReportQuery,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from transactions t join relayers on relayers.id = t.relayer_id
    where t.confirmed_at >= ${from} and t.confirmed_at < ${to}
      and t.current_attempt is not null and t.reset_at is null
      and ${visibleRelayer(visibility)}
      ${relayerId === undefined ? sql`` : sql`and t.relayer_id = ${relayerId}`}
    order by t.position limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}
