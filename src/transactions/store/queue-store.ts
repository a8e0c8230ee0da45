import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Purpose, Transaction, TransactionStatus } from '../model/transaction.ts'
import { REPLACEABLE_STATUSES } from '../model/transitions.ts'
import { type TransactionRow, toTransaction } from './codec.ts'
import { IN_FLIGHT, inFlight } from './work-store.ts'

type Db = Kysely<Schema>

/**
 * The transactions that everything else of their account waits for: of each source account the lowest nonce that is signed and not mined,
 * and of each relayer the first that is to be signed, without those that others may overtake already. Relayers that sign nothing at
 * present are left out.
 */
export async function findQueueHeads(db: Db): Promise<Transaction[]> {
  const { rows } = await sql<TransactionRow>`
    select signed.* from (
      select distinct on (t.relayer_id, t.source_account) t.* from transactions t
      where t.status in ('sent', 'submitted') and t.nonce is not null
      order by t.relayer_id, t.source_account, t.nonce) signed
    union all
    select pending.* from relayers r
    cross join lateral (
      select t.* from transactions t
      where t.relayer_id = r.id and t.status = 'pending' and (t.stuck_since is null or t.nonce is not null)
      order by t.nonce nulls last, t.position limit 1) pending
    where r.removed_at is null and not r.paused and not r.system_disabled`.execute(db)
  return rows.map(toTransaction)
}

/** Unnumbered transactions that others may overtake and that are due, in the order of acceptance. */
export async function findOvertaken(
  db: Db,
  relayerId: string,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<Transaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .where('status', '=', 'pending')
    .where('stuck_since', 'is not', null)
    .where('nonce', 'is', null)
    .where('next_run_at', '<=', now)
    .orderBy('position')
    .limit(limit)
    .execute()
  return rows.map(toTransaction)
}

/** The first of the account's line: nothing behind it can be included before it. */
export async function findHead(db: Db, relayerId: string): Promise<Transaction | undefined> {
  const row = await inFlight(db, relayerId).selectAll().orderBy('nonce').limit(1).executeTakeFirst()
  return row && toTransaction(row)
}

/**
 * When the transaction before this one in its line was found in a block, so that this one came first; undefined where none was before
 * it, or its event is no longer kept.
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
    .where(sql<boolean>`events.payload ->> 'status' = 'mined'`)
    .orderBy('events.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}

/** How many open transactions of the account come before this one in its line. */
export async function countAhead(db: Db, transaction: Transaction): Promise<number> {
  const open = db
    .selectFrom('transactions')
    .where('relayer_id', '=', transaction.relayerId)
    .where('status', 'in', ['pending', ...IN_FLIGHT])
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

/** What a caller asked for and nobody has called off. The others are no-ops, or the service's own. */
const WANTED: readonly Purpose[] = ['request', 'successor']

/**
 * Ids of the relayer's transactions that can still be called off, newest first, and how many there are beyond the limit
 * or not.
 */
export async function findOpenRequests(
  db: Db,
  relayerId: string,
  limit: number,
): Promise<{ ids: string[]; total: number }> {
  const rows = await db
    .selectFrom('transactions')
    .select((eb) => ['id', eb.fn.countAll<bigint>().over().as('total')] as const)
    .where('relayer_id', '=', relayerId)
    .where('status', 'in', REPLACEABLE_STATUSES as TransactionStatus[])
    .where('purpose', 'in', WANTED as Purpose[])
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
  return { ids: rows.map(({ id }) => id), total: Number(rows[0]?.total ?? 0n) }
}
