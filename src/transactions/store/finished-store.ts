import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { Transaction, TransactionStatus } from '../model/transaction.ts'
import { type TransactionRow, toTransaction } from './codec.ts'
import { IS_OPEN, isActive } from './due-store.ts'

/** Builds the SQL condition that a status is final. */
export function isFinal(status: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${status} not in ('pending', 'sent', 'submitted', 'mined')`
}

/**
 * Adds `rows` (relayer_id, status) to the counts, as a part of the statement that makes them final, or with
 * -1 subtracts those that the statement deletes. Final transactions never change, so the counts are exact at
 * every commit. The rows are sorted, so that two writers cannot deadlock.
 */
export function addToCounts(rows: RawBuilder<unknown>, sign: 1 | -1 = 1): RawBuilder<unknown> {
  return sql`
    insert into finished_counts as counts (relayer_id, status, count)
    select relayer_id, status, ${sql.lit(sign)} * count(*) from (${rows}) as finished
    group by relayer_id, status order by relayer_id, status
    on conflict (relayer_id, status) do update set count = counts.count + excluded.count`
}

/**
 * Counts the transactions of relayers, of one status or of all. The number of final ones is stored, so the
 * time grows with the open ones and not with the history. One statement reads both parts, so that they belong
 * to the same moment.
 */
export async function countTransactions(
  db: Db,
  {
    relayerIds,
    status,
  }: { readonly relayerIds: readonly string[]; readonly status?: TransactionStatus | undefined },
): Promise<number> {
  const wanted = status === undefined ? sql`` : sql`and status = ${status}`
  const { rows } = await sql<{ total: bigint }>`
    select (select count(*) from transactions where relayer_id = any(${relayerIds}::text[]) and ${IS_OPEN} ${wanted})
      + (select coalesce(sum(count), 0)::bigint from finished_counts where relayer_id = any(${relayerIds}::text[]) ${wanted})
      as total`.execute(db)
  return Number(rows[0]?.total ?? 0n)
}

/** The number of transactions of a relayer in a status. */
export interface StatusCount {
  readonly relayerId: string
  readonly networkType: string
  readonly status: TransactionStatus
  readonly count: number
  /**
   * The time since which the service works on the oldest active one; absent for final ones. `startsAt` is the
   * same for one transaction.
   */
  readonly oldestAt?: Date
}

/**
 * Counts the transactions of all relayers by status, oldest relayer first; as cheap as `countTransactions`.
 */
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
      select relayer_id, status, count(*) as count, min(greatest(created_at, valid_from, released_at)) filter (where ${isActive(now)}) as oldest_at
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

/** A block that includes final transactions. */
export interface FinalBlock {
  readonly number: bigint
  readonly hash: string
}

/**
 * The number of newest final transactions of a relayer that are compared. The transactions of one round have
 * the same time.
 */
const NEWEST = 20

/**
 * Finds the time at which the newest transaction of these relayers became final. The cost does not grow with
 * the history.
 */
export async function findNewestFinal(
  db: Db,
  { relayerIds, since }: Pick<FinalBlocksQuery, 'relayerIds' | 'since'>,
): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(newest.confirmed_at) as at from unnest(${relayerIds}::text[]) relayer (id)
    cross join lateral (
      select confirmed_at from transactions
      where relayer_id = relayer.id and confirmed_at > ${since} and reset_at is null and block_number is not null
      order by confirmed_at desc limit 1) newest`.execute(db)
  return rows[0]?.at ?? undefined
}

/**
 * Finds the highest block of the newest transactions that became final until then. The cost does not grow
 * with the history.
 */
export async function findHighestFinalBlock(
  db: Db,
  { relayerIds, since, until }: Pick<FinalBlocksQuery, 'relayerIds' | 'since'> & { readonly until: Date },
): Promise<FinalBlock | undefined> {
  const { rows } = await sql<{ block_number: bigint; block_hash: string }>`
    select newest.block_number, newest.block_hash
    from unnest(${relayerIds}::text[]) relayer (id)
    cross join lateral (
      select block_number, block_hash from transactions
      where relayer_id = relayer.id and confirmed_at > ${since} and confirmed_at <= ${until} and reset_at is null and block_number is not null
      order by confirmed_at desc, block_number desc limit ${NEWEST}) newest
    order by newest.block_number desc limit 1`.execute(db)
  return rows[0] && { number: rows[0].block_number, hash: rows[0].block_hash }
}

interface FinalBlocksQuery {
  readonly relayerIds: readonly string[]
  /** Only transactions that became final after this time. */
  readonly since: Date
  /** Only transactions that became final until then. */
  readonly until?: Date | undefined
  /** Only blocks below this one. */
  readonly below: bigint | undefined
  readonly limit: number
}

/**
 * Finds blocks of final transactions, highest first. It reads all transactions that became final in this
 * time, so keep that short unless a block was lost.
 */
export async function findFinalBlocks(
  db: Db,
  { relayerIds, since, until, below, limit }: FinalBlocksQuery,
): Promise<FinalBlock[]> {
  const { rows } = await sql<{ block_number: bigint; block_hash: string }>`
    select distinct block_number, block_hash from transactions
    where relayer_id = any(${relayerIds}::text[]) and confirmed_at > ${since} and reset_at is null
      and (${until ?? null}::timestamptz is null or confirmed_at <= ${until ?? null}) and block_number is not null
      and (${below === undefined ? null : String(below)}::numeric is null or block_number < ${below === undefined ? null : String(below)}::numeric)
    order by block_number desc limit ${limit}`.execute(db)
  return rows.map((row) => ({ number: row.block_number, hash: row.block_hash }))
}

/** Finds the transactions that became final in one of these blocks. */
export async function findFinalInBlocks(
  db: Db,
  {
    relayerIds,
    since,
    hashes,
  }: { readonly relayerIds: readonly string[]; readonly since: Date; readonly hashes: readonly string[] },
): Promise<Transaction[]> {
  if (hashes.length === 0) return []
  const { rows } = await sql<TransactionRow>`
    select * from transactions
    where relayer_id = any(${relayerIds}::text[]) and confirmed_at > ${since} and reset_at is null and block_hash = any(${hashes}::text[])
    order by nonce`.execute(db)
  return rows.map(toTransaction)
}

/** Finds the final transactions whose block was lost and that no other block includes yet, by nonce. */
export async function findReorganized(db: Db, relayerIds: readonly string[]): Promise<Transaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .selectAll()
    .where('reorganized_at', 'is not', null)
    .where('reset_at', 'is', null)
    .where('relayer_id', 'in', [...relayerIds])
    .orderBy('nonce')
    .limit(MAX_REORGANIZED)
    .execute()
  return rows.map(toTransaction)
}

/** The maximum number of reorganised transactions in one round. */
const MAX_REORGANIZED = 200

/** Returns true if a transaction of these relayers became final after this time, or has lost its block. */
export async function hasRecentlyFinal(db: Db, relayerIds: readonly string[], since: Date): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from transactions where relayer_id = any(${relayerIds}::text[]) and confirmed_at > ${since} and reset_at is null)
      or exists (
        select from transactions where relayer_id = any(${relayerIds}::text[]) and reorganized_at is not null and reset_at is null) as found`.execute(
    db,
  )
  return rows[0]?.found ?? false
}
