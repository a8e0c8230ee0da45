import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { Purpose, Transaction } from '../model/transaction.ts'
import { decodeRequest, type TransactionRow, toTransaction } from './codec.ts'
import {
  IS_IN_FLIGHT,
  IS_NOT_UNDECIDED,
  IS_SIGNED,
  IS_UNMINED,
  inFlight,
  isActive,
  isDueAt,
  isTimely,
} from './due-store.ts'

/**
 * Finds the transactions that all others of their account wait for: for each source account the lowest nonce
 * that is signed and not mined, and for each relayer the first pending transaction that others may not
 * overtake and that is active. Paused and disabled relayers are left out of the pending part.
 */
export async function findQueueHeads(db: Db, now: Date): Promise<Transaction[]> {
  const { rows } = await sql<TransactionRow>`
    select signed.* from (
      select distinct on (t.relayer_id, t.source_account) t.* from transactions t
      where ${IS_IN_FLIGHT} and t.nonce is not null
      order by t.relayer_id, t.source_account, t.nonce) signed
    union all
    select pending.* from relayers r
    cross join lateral (
      select t.* from transactions t
      where t.relayer_id = r.id and t.phase = 'pending' and ${isActive(now)} and (t.stuck_since is null or t.nonce is not null)
      order by t.nonce nulls last, t.position limit 1) pending
    where r.removed_at is null and not r.paused and not r.system_disabled`.execute(db)
  return rows.map(toTransaction)
}

/** The maximum number of transactions of each kind that a step of a relayer processes. */
export interface SubmitLimits {
  readonly pending: number
  readonly overtaken: number
}

interface SubmittableQuery {
  readonly now: Date
  readonly limits: SubmitLimits
  /** The API keys of the pending transactions take turns. Default: the order of acceptance. */
  readonly inTurns?: boolean
}

/** Transactions that a step of a relayer may sign. */
export interface Submittable {
  /**
   * In the order of acceptance, but for those with a nonce, which come first, because others wait for them,
   * and then setup transactions.
   */
  readonly pending: readonly Transaction[]
  /** Those that others may overtake, as far as they are due, in the order of acceptance. */
  readonly overtaken: readonly Transaction[]
}

/**
 * Finds the pending transactions of a relayer that are active, in one statement. Each kind has an index in
 * the order that it needs, so the number of transactions that wait behind the limit does not matter.
 */
export async function findSubmittable(
  db: Db,
  relayerId: string,
  { now, limits, inTurns = false }: SubmittableQuery,
): Promise<Submittable> {
  const active = sql`
    select *, 0::bigint as turn from transactions where relayer_id = ${relayerId} and phase = 'pending' and ${isActive(now)}`
  const first = sql`${active} and nonce is null and stuck_since is null`
  const requests = inTurns
    ? sql`(${requestsInTurns({ relayerId, now, limit: limits.pending })})`
    : sql`(${first} and purpose <> 'setup' order by position limit ${limits.pending})`
  const { rows } = await sql<TransactionRow>`
    select * from (
      (${active} and nonce is not null order by nonce limit ${limits.pending})
      union all
      (${first} and purpose = 'setup' order by position limit ${limits.pending})
      union all
      ${requests}
      union all
      (${active} and ${IS_STUCK_UNSIGNED} and ${isDueAt(now)} order by ${IN_ORDER} limit ${limits.overtaken})
      union all
      (select *, 0::bigint as turn from transactions where relayer_id = ${relayerId} and phase = 'pending' and ${isTimely(now)}
        and awaits_price and ${isDueAt(now)} order by position limit ${limits.overtaken})) submittable
    order by ${IS_OVERTAKEN}, ${IN_ORDER}`.execute(db)
  const found = Map.groupBy(rows, (row) => isOvertaken(toTransaction(row)))
  return {
    pending: (found.get(false) ?? []).slice(0, limits.pending).map(toTransaction),
    overtaken: (found.get(true) ?? []).map(toTransaction),
  }
}

/**
 * Builds the query for pending transactions in the order of turns: the next one is of the API key that has
 * the fewest in flight. It goes from key to key in the index (`transactions_by_sender`), so a key with many
 * waiting ones costs no more than the others.
 */
function requestsInTurns({
  relayerId,
  now,
  limit,
}: {
  readonly relayerId: string
  readonly now: Date
  readonly limit: number
}) {
  const waiting = sql`relayer_id = ${relayerId} and phase = 'pending' and nonce is null`
  const sender = sql`coalesce(requested_by, '')`
  return sql`
    with recursive sender as (
      (select ${sender} as id from transactions where ${waiting} order by ${sender} limit 1)
      union all
      select (select ${sender} from transactions where ${waiting} and ${sender} > sender.id order by ${sender} limit 1)
      from sender where sender.id is not null),
    flying as (
      select ${sender} as id, count(*) as count from transactions where relayer_id = ${relayerId} and ${IS_IN_FLIGHT} group by 1)
    select queued.*, coalesce(flying.count, 0) + row_number() over (partition by sender.id order by queued.position) as turn
    from sender left join flying on flying.id = sender.id cross join lateral (
      select * from transactions
      where ${waiting} and ${sender} = sender.id and stuck_since is null and purpose <> 'setup' and ${isActive(now)}
      order by position limit ${limit}) queued
    where sender.id is not null order by turn, position limit ${limit}`
}

/** The condition that a pending transaction has no nonce, and has blocked its account for too long. */
const IS_STUCK_UNSIGNED = sql<boolean>`(stuck_since is not null and nonce is null)`

/** The condition of `isOvertaken`. */
const IS_OVERTAKEN = sql<boolean>`(${IS_STUCK_UNSIGNED} or awaits_price is not null)`

/**
 * Returns true if others overtake a pending transaction: it has no nonce and has blocked its account for too
 * long, or it waits for a price.
 */
export function isOvertaken({
  stuckSince,
  nonce,
  awaitsPrice,
}: Pick<Transaction, 'stuckSince' | 'nonce' | 'awaitsPrice'>): boolean {
  return (stuckSince !== undefined && nonce === undefined) || awaitsPrice === true
}

const IN_ORDER = sql`nonce nulls last, purpose = 'setup' desc, turn, position`

/** Finds the lowest nonce that is signed and not mined: no later one can be included before it. */
export async function findHead(db: Db, relayerId: string): Promise<Transaction | undefined> {
  const row = await inFlight(db, relayerId).selectAll().orderBy('nonce').limit(1).executeTakeFirst()
  return row && toTransaction(row)
}

/**
 * Finds the time when the previous nonce of the source account was mined, so that this transaction became the
 * first of its queue. Undefined when there was no previous one, or its event is no longer kept.
 */
export async function findHeadSince(
  db: Db,
  { relayerId, sourceAccount, nonce }: Transaction,
): Promise<Date | undefined> {
  if (nonce === undefined || sourceAccount === undefined) return undefined
  const row = await db
    .selectFrom('transactions')
    .innerJoin('events', 'events.transaction_id', 'transactions.id')
    .select('events.created_at')
    .where('transactions.relayer_id', '=', relayerId)
    .where('transactions.source_account', '=', sourceAccount)
    .where('transactions.nonce', '=', nonce - 1n)
    .where('transactions.reset_at', 'is', null)
    .where(sql<boolean>`events.payload ->> 'status' = 'mined'`)
    .orderBy('events.number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}

/**
 * Reads the next nonce of an account, undefined if none was assigned yet, and the number of the relayer's
 * transactions that get theirs first. One statement reads both, so a transaction that is being numbered
 * counts once.
 */
export async function findQueueEnd(
  db: Db,
  { relayerId, address, now }: { readonly relayerId: string; readonly address: string; readonly now: Date },
): Promise<{ readonly nextNonce: bigint | undefined; readonly unnumbered: bigint }> {
  const { rows } = await sql<{ next_nonce: bigint | null; unnumbered: bigint }>`
    select
      (select next_nonce from accounts where relayer_id = ${relayerId} and address = ${address}) as next_nonce,
      (select count(*) from transactions where relayer_id = ${relayerId} and phase = 'pending' and nonce is null
        and stuck_since is null and ${isActive(now)}) as unnumbered`.execute(db)
  const [row] = rows
  return { nextNonce: row?.next_nonce ?? undefined, unnumbered: row?.unnumbered ?? 0n }
}

/** Counts the open transactions of the account that come before this one. */
export async function countAhead(db: Db, transaction: Transaction, now: Date): Promise<number> {
  const open = db
    .selectFrom('transactions')
    .where('relayer_id', '=', transaction.relayerId)
    .where(IS_UNMINED)
    .where(isActive(now))
    .where(IS_NOT_UNDECIDED)
    .where('id', '<>', transaction.id)
  const before =
    transaction.nonce === undefined
      ? open.where((eb) =>
          eb.or([
            eb('nonce', 'is not', null),
            eb(
              'position',
              '<',
              eb.selectFrom('transactions').select('position').where('id', '=', transaction.id),
            ),
          ]),
        )
      : open.where('nonce', '<', transaction.nonce)
  const row = await before.select((eb) => eb.fn.countAll<bigint>().as('count')).executeTakeFirstOrThrow()
  return Number(row.count)
}

/**
 * Returns true if a transaction of the same account cannot be included before this one, which has a nonce.
 */
export async function hasFollowers(
  db: Db,
  { id, relayerId, nonce }: Transaction,
  now: Date,
): Promise<boolean> {
  if (nonce === undefined) return false
  const row = await db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', '=', relayerId)
    .where(IS_UNMINED)
    .where(isActive(now))
    .where('id', '<>', id)
    .where((eb) => eb.or([eb('nonce', 'is', null), eb('nonce', '>', nonce)]))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Finds the requests of the relayer that wait until the earlier version of their transaction has expired. */
export async function findWaitingSuccessors(
  db: Db,
  relayerId: string,
): Promise<Pick<Transaction, 'id' | 'request'>[]> {
  const rows = await db
    .selectFrom('transactions')
    .select(['id', 'request'])
    .where('relayer_id', '=', relayerId)
    .where(IS_SIGNED)
    .where('status', '<>', 'mined')
    .where('purpose', '=', 'successor')
    .execute()
  return rows.map(({ id, request }) => ({ id, request: decodeRequest(request) }))
}

/**
 * Purposes of content that a caller requested and has not canceled. The others are no-ops, or belong to the
 * service.
 */
const REQUESTED: readonly Purpose[] = ['request', 'successor']

/**
 * Finds the ids of the relayer's transactions that can still be canceled, newest first, up to the limit, and
 * their total number.
 */
export async function findOpenRequests(
  db: Db,
  relayerIds: readonly string[],
  limit: number,
): Promise<{ items: { readonly id: string; readonly relayerId: string }[]; total: number }> {
  const rows = await db
    .selectFrom('transactions')
    .select((eb) => ['id', 'relayer_id', eb.fn.countAll<bigint>().over().as('total')] as const)
    .where('relayer_id', 'in', [...relayerIds])
    .where(IS_UNMINED)
    .where('purpose', 'in', REQUESTED as Purpose[])
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
  return {
    items: rows.map(({ id, relayer_id: relayerId }) => ({ id, relayerId })),
    total: Number(rows[0]?.total ?? 0n),
  }
}

/** The transactions that wait for their turn before a new one. */
export interface QueueLength {
  /** Counted up to a limit. */
  readonly count: number
  /**
   * Since when the oldest of them waits: its acceptance, its approval or its `valid_from`, whichever is last;
   * undefined if there is none.
   */
  readonly oldestAt: Date | undefined
}

/** Measures the transactions that are pending without a nonce: of one sender, or of all. */
export async function measureQueue(
  db: Db,
  {
    relayerId,
    sender,
    now,
    limit,
  }: {
    readonly relayerId: string
    readonly sender?: string | undefined
    readonly now: Date
    readonly limit: number
  },
): Promise<QueueLength> {
  const ofSender = sender === undefined ? sql`` : sql`and coalesce(requested_by, '') = ${sender}`
  const { rows } = await sql<{ count: bigint; oldest: Date | null }>`
    select count(*) as count, min(greatest(created_at, valid_from, approved_at, released_at)) as oldest from (
      select created_at, valid_from, released_at, (select decided_at from approvals where transaction_id = transactions.id) as approved_at from transactions
      where relayer_id = ${relayerId} and phase = 'pending' and nonce is null and stuck_since is null and ${isActive(now)} ${ofSender}
      order by position limit ${limit}) queued`.execute(db)
  return { count: Number(rows[0]?.count ?? 0n), oldestAt: rows[0]?.oldest ?? undefined }
}
