import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/schema.ts'
import type { TransactionStatus } from '../model/transaction.ts'
import { IS_OPEN } from './phase-store.ts'
import { isActive } from './work-store.ts'

/** Builds the SQL condition that a status is final. */
export function isFinal(status: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${status} not in ('pending', 'sent', 'submitted', 'mined')`
}

/**
 * Adds `rows` (relayer_id, status) to the counts, as a part of the statement that makes them final. Final transactions never change and are
 * never deleted, so the counts are exact at every commit. The rows are sorted, so that two writers cannot deadlock.
 */
export function addToCounts(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    insert into finished_counts as counts (relayer_id, status, count)
    select relayer_id, status, count(*) from (${rows}) as finished
    group by relayer_id, status order by relayer_id, status
    on conflict (relayer_id, status) do update set count = counts.count + excluded.count`
}

/**
 * Counts the transactions of a relayer, of one status or of all. The number of final ones is stored, so the time grows with the open ones
 * and not with the history. One statement reads both parts, so that they belong to the same moment.
 */
export async function countTransactions(
  db: Db,
  { relayerId, status }: { readonly relayerId: string; readonly status?: TransactionStatus | undefined },
): Promise<number> {
  const wanted = status === undefined ? sql`` : sql`and status = ${status}`
  const { rows } = await sql<{ total: bigint }>`
    select (select count(*) from transactions where relayer_id = ${relayerId} and ${IS_OPEN} ${wanted})
      + (select coalesce(sum(count), 0)::bigint from finished_counts where relayer_id = ${relayerId} ${wanted})
      as total`.execute(db)
  return Number(rows[0]?.total ?? 0n)
}

/** The number of transactions of a relayer in a status. */
export interface StatusCount {
  readonly relayerId: string
  readonly networkType: string
  readonly status: TransactionStatus
  readonly count: number
  /** The time since which the service works on the oldest active one; absent for final ones. `startsAt` tells it of one transaction. */
  readonly oldestAt?: Date
}

/** Counts the transactions of all relayers by status, oldest relayer first; as cheap as `countTransactions`. */
export async function countByStatus(db: Db, now: Date): Promise<StatusCount[]> {
  const { rows } = await sql<{
    relayer_id: string
    network_type: string
    status: TransactionStatus
    count: bigint
    oldest_at: Date | null
  }>`
    select r.id as relayer_id, r.network_type, counts.status, counts.count, counts.oldest_at
    from relayers r join (
      select relayer_id, status, count(*) as count, min(greatest(created_at, valid_from)) filter (where ${isActive(now)}) as oldest_at
      from transactions where ${IS_OPEN} group by relayer_id, status
      union all select relayer_id, status, count, null from finished_counts
    ) counts on counts.relayer_id = r.id
    order by r.created_at, r.id`.execute(db)
  return rows.map(({ relayer_id, network_type, status, count, oldest_at }) => ({
    relayerId: relayer_id,
    networkType: network_type,
    status,
    count: Number(count),
    ...(oldest_at && { oldestAt: oldest_at }),
  }))
}
