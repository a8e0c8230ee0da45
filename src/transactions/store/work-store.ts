import { type Transaction as DbTransaction, type Kysely, sql } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Transaction } from '../model/transaction.ts'
import { toTransaction } from './codec.ts'

type Db = Kysely<Schema>
type Tx = DbTransaction<Schema>

/** Statuses in which a nonce is taken and the chain has not decided yet. */
export const IN_FLIGHT = ['sent', 'submitted']

/** Relayers that have something to number, sign or broadcast at this time. */
export async function findDueRelayers(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('transactions')
    .select('relayer_id')
    .distinct()
    .where('status', 'in', ['pending', ...IN_FLIGHT])
    .where('next_run_at', '<=', now)
    .execute()
  return rows.map((row) => row.relayer_id)
}

/**
 * Accepted and not yet signed, in the order of acceptance. Those that have a nonce stand first, because others wait for it,
 * then what the service does for others. Those that others may overtake are not among them.
 */
export async function findPending(db: Db, relayerId: string, limit: number): Promise<Transaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', '=', relayerId)
    .where('status', '=', 'pending')
    .where((eb) => eb.or([eb('stuck_since', 'is', null), eb('nonce', 'is not', null)]))
    .orderBy('nonce', (order) => order.asc().nullsLast())
    .orderBy((eb) => eb('purpose', '=', 'setup'), 'desc')
    .orderBy('position')
    .limit(limit)
    .execute()
  return rows.map(toTransaction)
}

/** Stands for the line of transactions that have no nonce. */
export const NO_SOURCE_ACCOUNT = ''

/** How many are signed and not mined, on each line that has any. */
export async function countInFlight(db: Db, relayerId: string): Promise<Map<string, number>> {
  const rows = await inFlight(db, relayerId)
    .select((eb) => ['source_account', eb.fn.countAll<bigint>().as('count')] as const)
    .groupBy('source_account')
    .execute()
  return new Map(rows.map((row) => [row.source_account ?? NO_SOURCE_ACCOUNT, Number(row.count)]))
}

/** Signed and not mined, and due to be offered to the network again, by nonce. */
export async function findDueInFlight(db: Db, relayerId: string, now: Date): Promise<Transaction[]> {
  const rows = await inFlight(db, relayerId)
    .selectAll()
    .where('next_run_at', '<=', now)
    .orderBy('nonce')
    .limit(MAX_REPEATED)
    .execute()
  return rows.map(toTransaction)
}

/** A node that lost its pool gets everything again, in portions of this many; the lowest nonces first. */
const MAX_REPEATED = 500

export function inFlight(db: Db, relayerId: string) {
  return db.selectFrom('transactions').where('relayer_id', '=', relayerId).where('status', 'in', IN_FLIGHT)
}

/** Whether anything of these relayers is signed and not final. */
export async function hasWatched(db: Db, relayerIds: readonly string[]): Promise<boolean> {
  if (relayerIds.length === 0) return false
  const row = await db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', 'in', [...relayerIds])
    .where('status', 'in', [...IN_FLIGHT, 'mined'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Signed and not final, of several relayers: what the chain may have decided about. */
export async function findWatched(db: Db, relayerIds: readonly string[]): Promise<Transaction[]> {
  const rows = await db
    .selectFrom('transactions')
    .selectAll()
    .where('relayer_id', 'in', [...relayerIds])
    .where('status', 'in', [...IN_FLIGHT, 'mined'])
    .orderBy('nonce')
    .execute()
  return rows.map(toTransaction)
}

/** The most that the relayer's open transactions can still take from its account, in the smallest unit; `except` is left out. */
export async function reservedBy(db: Db, relayerId: string, except?: string): Promise<bigint> {
  let open = db
    .selectFrom('transactions')
    .where('relayer_id', '=', relayerId)
    .where('status', 'in', ['pending', ...IN_FLIGHT])
  if (except !== undefined) open = open.where('id', '<>', except)
  const row = await open.select((eb) => eb.fn.sum<bigint | null>('cost').as('sum')).executeTakeFirstOrThrow()
  return BigInt(row.sum ?? 0n)
}

/** The most that what is signed and not mined can still take from the account, in the smallest unit. */
export async function reservedInFlight(db: Db, relayerId: string): Promise<bigint> {
  const row = await inFlight(db, relayerId)
    .select((eb) => eb.fn.sum<bigint | null>('cost').as('sum'))
    .executeTakeFirstOrThrow()
  return BigInt(row.sum ?? 0n)
}

/** The service's own latest transaction for the relayer that others wait for. */
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
 * Writes when each of these is to be looked at again, and nothing else. That is no change of the record, so the version stays:
 * otherwise bytes that are offered each second would let nobody who needs longer than that write down what the chain decided.
 * What somebody changed meanwhile keeps its own time.
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
