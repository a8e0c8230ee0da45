import { type RawBuilder, sql } from 'kysely'
import type { Attempt } from '../../chains/attempt.ts'
import type { Db } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { findAccountIds } from '../../relayers/accounts/pool-store.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Transaction, TransactionStatus, TransactionWithAttempts } from '../model/transaction.ts'
import {
  ATTEMPT_COLUMNS,
  type AttemptRow,
  phaseOf,
  type TransactionRow,
  toAttempt,
  toTransaction,
} from './codec.ts'
import { countTransactions } from './finished-store.ts'

/** Finds a transaction of this relayer; undefined for the id of another relayer's transaction. */
export async function findTransaction(
  db: Db,
  relayerId: string,
  id: string,
): Promise<TransactionWithAttempts | undefined> {
  const [item] = await findTransactions(db, relayerId, [id])
  return item
}

/**
 * Finds transactions of this relayer, newest first, of whichever of its accounts; the ids of other relayers'
 * transactions are left out.
 */
export async function findTransactions(
  db: Db,
  relayerId: string,
  ids: readonly string[],
): Promise<TransactionWithAttempts[]> {
  return readWithAttempts(
    db,
    sql`select * from transactions where id = any(${ids}::text[]) and ${isOfPool(relayerId)}`,
  )
}

/**
 * Builds the condition that a transaction is of an account of this relayer, given by the id of any of them.
 */
function isOfPool(relayerId: string) {
  return sql<boolean>`split_part(transactions.relayer_id, '/', 1) = ${poolIdOf(relayerId)}`
}

/**
 * Reads transactions of any relayer, newest first by the order of acceptance. The caller has checked that
 * they may be seen.
 */
export async function readTransactions(db: Db, ids: readonly string[]): Promise<TransactionWithAttempts[]> {
  if (ids.length === 0) return []
  return readWithAttempts(db, sql`select * from transactions where id = any(${ids}::text[])`)
}

/** The part of a transaction that a wait reads. */
export type TransactionState = Pick<Transaction, 'status' | 'awaitsApproval'>

/** Reads the states of transactions of any relayer, by id. */
export async function findStates(
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TransactionState>> {
  const { rows } = await sql<{ id: string; status: TransactionStatus; awaits_approval: boolean }>`
    select id, status, awaits_approval from transactions where id = any(${ids}::text[])`.execute(db)
  return new Map(
    rows.map(({ id, status, awaits_approval: awaitsApproval }) => [id, { status, awaitsApproval }]),
  )
}

/**
 * Reads transactions with their attempts, newest first. It is one statement, so that both are of the same
 * moment: two would show an attempt of which the transaction knows nothing yet.
 */
async function readWithAttempts(
  db: Db,
  transactions: RawBuilder<unknown>,
): Promise<TransactionWithAttempts[]> {
  const { rows } = await sql<TransactionRow & AttemptBeside>`
    select t.*, ${ATTEMPT_BESIDE}
    from (${transactions}) t left join attempts a on a.transaction_id = t.id
    order by t.position desc, a.number`.execute(db)
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((those) =>
    those.slice(0, 1).map((row) => ({ transaction: toTransaction(row), attempts: those.flatMap(attemptIn) })),
  )
}

/** The columns of an attempt in a row of its transaction; all of them are null where it has none. */
type AttemptBeside = { readonly [C in keyof AttemptRow as `attempt_${C}`]: AttemptRow[C] | null }

const ATTEMPT_NAMES = Object.keys(ATTEMPT_COLUMNS)
const ATTEMPT_BESIDE = sql.raw(ATTEMPT_NAMES.map((name) => `a.${name} as attempt_${name}`).join(', '))

function attemptIn(row: AttemptBeside): Attempt[] {
  if (row.attempt_number === null) return []
  const columns: Readonly<Record<string, unknown>> = row
  const fields = ATTEMPT_NAMES.map((name) => [name, columns[`attempt_${name}`]])
  return [toAttempt(Object.fromEntries(fields) as AttemptRow)]
}

/**
 * Finds the transaction with this nonce of the relayer's own account, on the current chain of the relayer's
 * current network.
 */
export async function findByNonce(
  db: Db,
  { id, network, address }: Pick<Relayer, 'id' | 'network' | 'address'>,
  nonce: bigint,
): Promise<TransactionWithAttempts | undefined> {
  const [item] = await readWithAttempts(
    db,
    sql`select * from transactions where relayer_id = ${id} and network = ${network} and source_account = ${address}
      and nonce = ${nonce} and reset_at is null`,
  )
  return item
}

interface ListQuery {
  /** The ids of the accounts of the relayer. */
  readonly relayerIds: readonly string[]
  readonly status?: TransactionStatus | undefined
  readonly offset: number
  readonly limit: number
}

/** Returns the ids of all accounts of a relayer. Only one that has or had further accounts needs a query. */
export function accountIdsOf(db: Db, { id, accounts }: Pick<Relayer, 'id' | 'accounts'>): Promise<string[]> {
  return accounts === undefined ? Promise.resolve([id]) : findAccountIds(db, id)
}

/**
 * A page that begins this far from the newest transaction is read from the nearer end, so the total has to be
 * known first.
 */
const DEEP = 10_000

/** Lists the relayer's transactions with their attempts, newest first. `total` counts all of them. */
export async function listTransactions(
  db: Db,
  query: ListQuery,
): Promise<{ items: TransactionWithAttempts[]; total: number }> {
  const { offset, limit } = query
  if (offset < DEEP) {
    const newest = limit === 0 ? [] : readWithAttempts(db, pageOf(query, { order: 'desc', offset, limit }))
    const [total, items] = await Promise.all([countTransactions(db, query), newest])
    return { items, total }
  }
  const total = await countTransactions(db, query)
  const left = total - offset
  if (limit === 0 || left <= 0) return { items: [], total }
  const page =
    left < offset
      ? pageOf(query, { order: 'asc', offset: Math.max(0, left - limit), limit: Math.min(limit, left) })
      : pageOf(query, { order: 'desc', offset, limit })
  return { items: await readWithAttempts(db, page), total }
}

interface Window extends Pick<ListQuery, 'offset' | 'limit'> {
  /** The end of the list from which `offset` counts: `desc` for the newest transaction. */
  readonly order: 'desc' | 'asc'
}

/**
 * Builds the query for the transactions of a page. It finds their places in an index alone, and only then
 * reads their rows: a page in the middle of millions would otherwise read all rows before it.
 */
export function pageOf(
  { relayerIds, status }: Pick<ListQuery, 'relayerIds' | 'status'>,
  { order, offset, limit }: Window,
): RawBuilder<unknown> {
  const direction = sql.raw(order)
  const window = sql`limit ${limit} offset ${offset}`
  // Each account has an index in the order of acceptance, and there is none over several.
  const listed =
    relayerIds.length === 1
      ? sql`select relayer_id as id, position from transactions where relayer_id = ${relayerIds[0]} ${ofStatus(status)}
          order by position ${direction} ${window}`
      : sql`select account.id, place.position from unnest(${relayerIds}::text[]) as account (id) cross join lateral (
          select position from transactions where relayer_id = account.id ${ofStatus(status)}
          order by position ${direction} limit ${limit + offset}) place
        order by place.position ${direction} ${window}`
  return sql`select page.* from (${listed}) listed
    cross join lateral (
      select * from transactions where relayer_id = listed.id and position = listed.position limit 1) page`
}

/**
 * The phase is a literal, because a partial index applies in every plan only then. That of a final
 * transaction is its status.
 */
function ofStatus(status: TransactionStatus | undefined): RawBuilder<unknown> {
  if (status === undefined) return sql``
  const phase = phaseOf(status)
  return phase === 'signed'
    ? sql`and phase = 'signed' and status = ${status}`
    : sql`and phase = ${sql.lit(phase)}`
}

/** @throws AppError 404 `transaction_not_found`, also for the id of another relayer's transaction */
export async function requireTransaction(
  db: Db,
  relayer: Relayer,
  id: string,
): Promise<TransactionWithAttempts> {
  const item = await findTransaction(db, relayer.id, id)
  if (item === undefined)
    throw new AppError('transaction_not_found', `Relayer ${relayer.id} has no transaction ${id}.`)
  return item
}

/** Reads the trace context of the request that created a transaction; undefined if there is none. */
export async function findTraceParent(db: Db, transactionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('transactions')
    .select('trace_parent')
    .where('id', '=', transactionId)
    .executeTakeFirst()
  return row?.trace_parent ?? undefined
}
