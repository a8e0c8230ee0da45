import { sql } from 'kysely'
import type { Visibility } from '../access/principal.ts'
import { visibleRelayer } from '../access/visibility-store.ts'
import { FAMILIES } from '../chains/families.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import { readTransactions } from '../transactions/store/lookups-store.ts'
import { createReportSums, type ReportRow } from './report-rows.ts'

/** The most transactions of one report. More would take longer than a request may. */
const MAX_TRANSACTIONS = 50_000

/**
 * The number of transactions per read. More would occupy the embedded database for longer than other requests
 * should wait.
 */
const PAGE = 500

/**
 * Adds up what was spent from the stored transactions themselves, so that nothing has to be kept beside them.
 * @throws AppError `report_too_large`
 */
export async function readReport(db: Db, query: ReportQuery, signal: AbortSignal): Promise<ReportRow[]> {
  const ids = await findConfirmed(db, query, MAX_TRANSACTIONS + 1)
  if (ids.length > MAX_TRANSACTIONS)
    throw new AppError(
      'report_too_large',
      `More than ${MAX_TRANSACTIONS} transactions were confirmed from ${query.from.toISOString()} to ${query.to.toISOString()}; request shorter periods, or one relayer.`,
    )
  const sums = createReportSums((type) => FAMILIES[type].content)
  for (let start = 0; start < ids.length; start += PAGE) {
    signal.throwIfAborted()
    for (const item of await readTransactions(db, ids.slice(start, start + PAGE))) sums.add(item)
  }
  return sums.rows()
}

/** The transactions of a report. */
interface ReportQuery {
  /** The earliest time of confirmation, included. */
  readonly from: Date
  /** The end of the time, excluded. */
  readonly to: Date
  readonly relayerId?: string | undefined
  readonly visibility: Visibility
}

/**
 * Finds the ids of up to `limit` transactions with a final inclusion in this time, in order of acceptance.
 */
async function findConfirmed(
  db: Db,
  { from, to, relayerId, visibility }: ReportQuery,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from transactions t join relayers on relayers.id = t.relayer_id
    where t.confirmed_at >= ${from} and t.confirmed_at < ${to}
      and t.current_attempt is not null and t.reset_at is null
      and ${visibleRelayer(visibility)}
      ${relayerId === undefined ? sql`` : sql`and relayers.pool_id = ${relayerId}`}
    order by t.position limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}
