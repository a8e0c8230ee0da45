import type { Transaction as DbTransaction, Kysely } from 'kysely'
import type { Schema } from '../../database/schema.ts'
import type { Transaction } from '../model/transaction.ts'
import { toTransaction } from './codec.ts'

type Db = Kysely<Schema>
type Tx = DbTransaction<Schema>

/** Statuses in which a nonce is taken and the chain has not decided yet. */
const IN_FLIGHT = ['sent', 'submitted']

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

/** The first of the account's line: nothing behind it can be included before it. */
export async function findHead(db: Db, relayerId: string): Promise<Transaction | undefined> {
  const row = await inFlight(db, relayerId).selectAll().orderBy('nonce').limit(1).executeTakeFirst()
  return row && toTransaction(row)
}

/** A node that lost its pool gets everything again, in portions of this many; the lowest nonces first. */
const MAX_REPEATED = 500

function inFlight(db: Db, relayerId: string) {
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

/** The most that what is signed and not mined can still take from the account, in the smallest unit. */
export async function reservedInFlight(db: Db, relayerId: string): Promise<bigint> {
  const row = await inFlight(db, relayerId)
    .select((eb) => eb.fn.sum<bigint | null>('cost').as('sum'))
    .executeTakeFirstOrThrow()
  return BigInt(row.sum ?? 0n)
}

/** Locks the relayer's numbering until the commit and gives the next nonce of each line that was ever given one. */
export async function lockAccount(tx: Tx, relayerId: string): Promise<Map<string, bigint>> {
  const rows = await tx
    .selectFrom('accounts')
    .select(['address', 'next_nonce'])
    .where('relayer_id', '=', relayerId)
    .orderBy('address')
    .forUpdate()
    .execute()
  return new Map(rows.flatMap((row) => (row.next_nonce === null ? [] : [[row.address, row.next_nonce]])))
}

/** `null`: the chain is asked before the next one is given. */
export async function setNextNonce(
  tx: Tx,
  { relayerId, address, nonce }: { relayerId: string; address: string; nonce: bigint | null },
): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ relayer_id: relayerId, address, next_nonce: nonce })
    .onConflict((conflict) => conflict.columns(['relayer_id', 'address']).doUpdateSet({ next_nonce: nonce }))
    .execute()
}

/** Nonces that belong to a transaction already, of those that requests bring with them; each as `line nonce`. */
export async function findUsedExternalNonces(
  tx: Tx,
  relayerId: string,
  externalNonces: readonly { readonly address: string; readonly nonce: bigint }[],
): Promise<Set<string>> {
  if (externalNonces.length === 0) return new Set()
  const rows = await tx
    .selectFrom('transactions')
    .select(['source_account', 'nonce'])
    .where('relayer_id', '=', relayerId)
    .where('source_account', 'in', [...new Set(externalNonces.map(({ address }) => address))])
    .where('nonce', 'in', [...new Set(externalNonces.map(({ nonce }) => nonce))])
    .execute()
  return new Set(rows.map((row) => `${row.source_account} ${row.nonce}`))
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

/** Of these transactions, the ones that are still pending in the version they were read with; locked until the commit. */
export async function lockUnchanged(tx: Tx, transactions: readonly Transaction[]): Promise<Set<string>> {
  const versions = new Map(transactions.map((transaction) => [transaction.id, transaction.version]))
  const rows = await tx
    .selectFrom('transactions')
    .select(['id', 'version'])
    .where('id', 'in', [...versions.keys()])
    .where('status', '=', 'pending')
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Set(rows.filter((row) => versions.get(row.id) === row.version).map((row) => row.id))
}

/** Which nonces in `from` ≤ nonce < `to` of the line of `head` belong to a transaction, whatever its status. */
export async function findUsedNonces(
  db: Db,
  head: Transaction,
  { from, to }: { from: bigint; to: bigint },
): Promise<Set<bigint>> {
  const rows = await db
    .selectFrom('transactions')
    .select('nonce')
    .where('relayer_id', '=', head.relayerId)
    .where('network', '=', head.network)
    .where('source_account', '=', head.sourceAccount ?? head.from)
    .where('nonce', '>=', from)
    .where('nonce', '<', to)
    .execute()
  return new Set(rows.map((row) => row.nonce ?? 0n))
}
