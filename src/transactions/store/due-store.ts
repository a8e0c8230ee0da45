import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import { LONGEST_WAIT_MS } from '../model/due.ts'
import type { Transaction } from '../model/transaction.ts'
import { toTransaction } from './codec.ts'

// The conditions have literals, because a partial index applies in every plan only then.

/** The condition that a transaction is not final. */
export const IS_OPEN = sql<boolean>`phase in ('pending', 'signed')`

/** The condition that a transaction is signed and not final. */
export const IS_SIGNED = sql<boolean>`phase = 'signed'`

/**
 * The condition that a transaction is not undecided. An undecided one can no longer be included, or it was
 * already, so it is not broadcast, blocks nothing and reserves nothing.
 */
export const IS_NOT_UNDECIDED = sql<boolean>`undecided_since is null`

/** The condition that a transaction is signed, no block is known to include it, and one still can. */
export const IS_IN_FLIGHT = sql<boolean>`(phase = 'signed' and status <> 'mined' and undecided_since is null)`

/** The condition that a transaction is not final and no block includes it. */
export const IS_UNMINED = sql<boolean>`(phase in ('pending', 'signed') and status <> 'mined')`

/** Builds the condition of `isDue`. */
export function isDueAt(now: Date) {
  const latest = new Date(now.getTime() + LONGEST_WAIT_MS)
  return sql<boolean>`(next_run_at <= ${now} or next_run_at > ${latest} or (phase = 'pending' and next_run_at = created_at))`
}

/**
 * Builds the condition that the transaction waits neither for an approval, nor for another transaction, nor
 * for its `valid_from`, nor for a price: others overtake the rest, and only this reserves money. `isScheduled` is the second condition for
 * one transaction.
 */
export function isActive(now: Date) {
  return sql<boolean>`(${isTimely(now)} and awaits_price is null)`
}

/**
 * Builds the condition that the transaction may be signed when its price allows it: it waits neither for an
 * approval, nor for another transaction, nor for its `valid_from`.
 */
export function isTimely(now: Date) {
  return sql<boolean>`(awaits_approval is null and awaits_transaction is null
    and (valid_from is null or valid_from <= ${now} or nonce is not null or phase <> 'pending'))`
}

/** Finds the relayers with transactions to number, sign or broadcast at this time. */
export async function findDueRelayers(db: Db, now: Date): Promise<string[]> {
  const { rows } = await dueRelayersStatement(now).execute(db)
  return rows.map((row) => row.relayer_id)
}

/**
 * Builds the statement of `findDueRelayers`. It goes from each relayer with open transactions to the next one
 * in the index, and reads those of a relayer up to the first one that is due: most often the oldest pending
 * one, even if many wait. Without `offset 0`, the database would read all open ones of all relayers when its
 * statistics know of few.
 */
export function dueRelayersStatement(now: Date): RawBuilder<{ readonly relayer_id: string }> {
  return sql`
    with recursive busy as (
      (select relayer_id from transactions where ${IS_OPEN} order by relayer_id limit 1)
      union all
      select (
        select next.relayer_id from transactions next
        where ${IS_OPEN} and next.relayer_id > busy.relayer_id
        order by next.relayer_id limit 1)
      from busy where busy.relayer_id is not null)
    select relayer_id from busy
    where relayer_id is not null and exists (
      select from transactions
      where transactions.relayer_id = busy.relayer_id and ${IS_UNMINED} and ${IS_NOT_UNDECIDED}
        and ${isTimely(now)} and ${isDueAt(now)} offset 0)`
}

/**
 * Returns true if the relayer has a transaction to number and sign at this time. The index has them first, so
 * this reads next to nothing.
 */
export async function hasDuePending(db: Db, relayerId: string, now: Date): Promise<boolean> {
  const { rows } = await sql<Found>`
    select exists (
      select from transactions
      where relayer_id = ${relayerId} and phase = 'pending' and ${isTimely(now)} and ${isDueAt(now)}) as found`.execute(
    db,
  )
  return rows[0]?.found === true
}

/** The key of transactions without a source account in the counts. */
export const NO_SOURCE_ACCOUNT = ''

/** The transactions of a relayer that are signed and not mined, in numbers. */
export interface InFlight {
  /** Their number by source account. Accounts without any are absent. */
  readonly counts: ReadonlyMap<string, number>
  /** The sum of their costs, in the smallest unit. */
  readonly reserved: bigint
}

/** Counts the transactions that the relayer has in flight, and sums their costs. */
export async function measureInFlight(db: Db, relayerId: string): Promise<InFlight> {
  const rows = await inFlight(db, relayerId)
    .select(
      (eb) =>
        [
          'source_account',
          eb.fn.countAll<bigint>().as('count'),
          eb.fn.sum<bigint>('cost').as('cost'),
        ] as const,
    )
    .groupBy('source_account')
    .execute()
  return {
    counts: new Map(rows.map((row) => [row.source_account ?? NO_SOURCE_ACCOUNT, Number(row.count)])),
    reserved: rows.reduce((sum, row) => sum + BigInt(row.cost), 0n),
  }
}

/** Finds transactions that are signed, not mined, and due for another broadcast, by nonce. */
export async function findDueInFlight(db: Db, relayerId: string, now: Date): Promise<Transaction[]> {
  const rows = await inFlight(db, relayerId)
    .selectAll()
    .where(isDueAt(now))
    .orderBy('nonce')
    .limit(MAX_REBROADCAST)
    .execute()
  return rows.map(toTransaction)
}

/**
 * The maximum number of transactions in one rebroadcast, lowest nonces first, for example after a node lost
 * its mempool.
 */
const MAX_REBROADCAST = 500

/** Builds the query for the relayer's transactions that are signed and not mined. */
export function inFlight(db: Db, relayerId: string) {
  return db.selectFrom('transactions').where('relayer_id', '=', relayerId).where(IS_IN_FLIGHT)
}

/**
 * Up to this number of relayers, the database looks into the index for each of them. For more, it is faster
 * to read all open transactions, of which most relayers have none.
 */
const FEW_RELAYERS = 100

/** Returns true if a transaction of these relayers is signed and not final. */
export async function hasWatched(db: Db, relayerIds: readonly string[]): Promise<boolean> {
  if (relayerIds.length === 0) return false
  const { rows } = await (relayerIds.length > FEW_RELAYERS
    ? findAmongAll(db, relayerIds)
    : sql<Found>`
        select exists (
          select from transactions
          where ${IS_SIGNED} and relayer_id = any(${relayerIds}::text[])) as found`.execute(db))
  return rows[0]?.found === true
}

interface Found {
  readonly found: boolean
}

/**
 * This runs for every block of an idle network, so a long list of ids is sent only if there is something to
 * look for.
 */
async function findAmongAll(db: Db, relayerIds: readonly string[]): Promise<{ rows: readonly Found[] }> {
  const any = await sql<Found>`
    select exists (select from transactions where ${IS_SIGNED}) as found`.execute(db)
  if (any.rows[0]?.found !== true) return any
  // With `offset 0`, the database does not move the condition for the relayers into the inner query.
  return sql<Found>`
    select exists (
      select from (select relayer_id from transactions where ${IS_SIGNED} offset 0) signed
      where relayer_id = any(${relayerIds}::text[])) as found`.execute(db)
}

/** Finds the transactions of these relayers that are signed and not final, by nonce. */
export async function findWatched(db: Db, relayerIds: readonly string[]): Promise<Transaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .selectAll()
    .where(sql<boolean>`relayer_id = any(${relayerIds}::text[])`)
    .where(IS_SIGNED)
    .orderBy('nonce')
    .execute()
  return rows.map(toTransaction)
}

/**
 * Sums the costs of the relayer's open transactions, in the smallest unit. The transaction `except` is left
 * out, and so are undecided ones and those that are not active: a key that may only send could otherwise
 * block the account until a decision, or until any time.
 */
export async function reservedBy(
  db: Db,
  relayerId: string,
  { now, except }: { readonly now: Date; readonly except?: string | undefined },
): Promise<bigint> {
  const others = except === undefined ? sql`` : sql`and id <> ${except}`
  const { rows } = await sql<{ readonly reserved: bigint | null }>`
    select sum(cost) as reserved from transactions
    where relayer_id = ${relayerId} and ${IS_UNMINED} and ${isActive(now)} and ${IS_NOT_UNDECIDED} ${others}`.execute(
    db,
  )
  return BigInt(rows[0]?.reserved ?? 0n)
}

/** Finds the newest setup transaction of the relayer. */
export async function findLatestSetup(db: Db, relayerId: string): Promise<Transaction | undefined> {
  const row = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .where('purpose', '=', 'setup')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toTransaction(row)
}

/**
 * Writes only `nextRunAt`. The version stays, because bytes that are broadcast each second would otherwise
 * make every slower writer fail to store a decision of the chain. A record that has since changed keeps its
 * time.
 */
export async function postponeTransactions(tx: Tx, transactions: readonly Transaction[]): Promise<void> {
  if (transactions.length === 0) return
  const records = transactions.map(({ id, version, nextRunAt }) => ({ id, version, next_run_at: nextRunAt }))
  await sql`
    update transactions t set next_run_at = record.next_run_at
    from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
      as record (id text, version integer, next_run_at timestamptz)
    where t.id = record.id and t.version = record.version`.execute(tx)
}
