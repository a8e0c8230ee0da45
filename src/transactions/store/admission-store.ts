import { type QueryExecutorProvider, type Selectable, sql } from 'kysely'
import { appendAfter, type ChainHead, HEAD_COLUMNS } from '../../audit/append-store.ts'
import { type AuditedChange, chainOf } from '../../audit/entry.ts'
import type { RelayersTable } from '../../database/schema.ts'
import type { StatementQueue } from '../../database/statement-queue.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { toRelayer } from '../../relayers/relayer-codec.ts'
import type { Transaction } from '../model/transaction.ts'
import { insertTransactions } from './transactions-store.ts'
import { reservation } from './work-store.ts'

/** A relayer that is locked for an admission, and the facts that its requests are compared with. */
export interface LockedRelayer {
  readonly relayer: Relayer
  /** The costs of the open transactions, in the smallest unit. */
  readonly reserved: bigint
  /** The end of the relayer's chain in the audit log; undefined when it has no entry. Another writer may append to it at any time. */
  readonly head: ChainHead | undefined
}

/**
 * Locks a relayer for readers and then its nonce counters, until the commit, and reads the facts of an admission under these locks. Returns
 * undefined when there is no such relayer.
 */
export async function lockForAdmission(
  queue: StatementQueue,
  relayerId: string,
  now: Date,
): Promise<LockedRelayer | undefined> {
  // Two statements: none sees what was committed while it waited for a lock.
  const [relayer, facts] = await Promise.all([
    lockRelayerAndCounters(queue, relayerId),
    readFacts(queue, relayerId, now),
  ])
  return relayer && { relayer, ...facts }
}

/** Locks as `lockRelayer` and `lockAccount` do one after the other: the counters depend on the row of the relayer, so the order is the same. */
async function lockRelayerAndCounters(
  session: QueryExecutorProvider,
  relayerId: string,
): Promise<Relayer | undefined> {
  const { rows } = await sql<Selectable<RelayersTable>>`
    with relayer as materialized (
      select * from relayers where id = ${relayerId} and removed_at is null for share
    ), counters as materialized (
      select address from accounts where relayer_id in (select id from relayer) order by address for update
    )
    select relayer.*, (select count(*) from counters) as counters from relayer`.execute(session)
  const [row] = rows
  return row && toRelayer(row)
}

async function readFacts(
  session: QueryExecutorProvider,
  relayerId: string,
  now: Date,
): Promise<Omit<LockedRelayer, 'relayer'>> {
  const { rows } = await sql<{ reserved: bigint | null } & (ChainHead | Record<keyof ChainHead, null>)>`
    select (${reservation(relayerId, now)}) as reserved, head.*
    from (select) one left join (
      select ${HEAD_COLUMNS} from audit_chains where chain = ${chainOf(relayerId)}) head on true`.execute(
    session,
  )
  const [row] = rows
  return {
    reserved: BigInt(row?.reserved ?? 0n),
    head: row === undefined || row.number === null ? undefined : row,
  }
}

/** Transactions of one relayer that were admitted, and the entries of the audit log about them. */
export interface AdmittedRows {
  readonly relayerId: string
  readonly transactions: readonly Transaction[]
  readonly changes: readonly AuditedChange[]
  /** The end of the relayer's chain when it was locked. */
  readonly head: ChainHead | undefined
}

/**
 * Stores admitted transactions with their events and audit entries, in the database transaction that locked the relayer. Returns false when
 * `appendEntries` still has to append the entries: they are the first ones of the relayer, or another writer has appended some meanwhile.
 */
export async function storeAdmitted(
  queue: StatementQueue,
  { relayerId, transactions, changes, head }: AdmittedRows,
): Promise<boolean> {
  const [, isAppended] = await Promise.all([
    insertTransactions(queue, transactions),
    head !== undefined && appendAfter(queue, chainOf(relayerId), { head, changes }),
  ])
  return isAppended
}
