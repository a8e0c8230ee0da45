import { type QueryExecutorProvider, type RawBuilder, type Selectable, sql } from 'kysely'
import { appendAfter, type ChainHead, HEAD_COLUMNS } from '../../audit/append-store.ts'
import { type AuditedChange, chainOf } from '../../audit/entry.ts'
import type { RelayersTable } from '../../database/schema.ts'
import type { StatementQueue } from '../../database/statement-queue.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { toRelayer } from '../../relayers/relayer-codec.ts'
import type { Transaction } from '../model/transaction.ts'
import type { TransactionWriter } from './reservation-bounds.ts'
import { insertTransactions } from './transactions-store.ts'
import { type ReservedRow, selectReserved } from './work-store.ts'

/** The amount that the open transactions of a relayer reserve, in the smallest unit. It is the sum of their costs, or a bound that is not smaller. */
interface Reserved {
  readonly amount: bigint
  readonly isBound: boolean
}

/** A relayer that is locked for an admission, and the facts that its requests are compared with. */
export interface LockedRelayer {
  readonly relayer: Relayer
  readonly reserved: Reserved
  /** The end of the relayer's chain in the audit log; undefined when it has no entry. Another writer may append to it at any time. */
  readonly head: ChainHead | undefined
}

/**
 * Locks a relayer for readers and then its nonce counters, until the commit, and reads the facts of an admission under these locks. Returns
 * undefined when there is no such relayer.
 */
export async function lockForAdmission(
  { tx, reservations }: TransactionWriter<StatementQueue>,
  relayerId: string,
  now: Date,
): Promise<LockedRelayer | undefined> {
  const bound = reservations.find(relayerId)
  // Two statements: none sees what was committed while it waited for a lock.
  const [relayer, { head, sums }] = await Promise.all([
    lockRelayerAndCounters(tx, relayerId),
    readFacts(tx, relayerId, bound === undefined ? selectReserved(relayerId, now) : NO_SUMS),
  ])
  if (relayer === undefined) return undefined
  if (bound !== undefined) return { relayer, head, reserved: { amount: bound, isBound: true } }
  reservations.set(relayerId, sums.open)
  return { relayer, head, reserved: { amount: sums.active, isBound: false } }
}

/** Reads what the open transactions have reserved where a bound of it is too large, in the database transaction that locked the relayer. */
export async function readReserved(
  { tx, reservations }: TransactionWriter,
  relayerId: string,
  now: Date,
): Promise<bigint> {
  const { rows } = await selectReserved(relayerId, now).execute(tx)
  const { open, active } = toSums(rows[0])
  reservations.set(relayerId, open)
  return active
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

const NO_SUMS = sql<ReservedRow>`select null::numeric as open, null::numeric as active`

function toSums(row: ReservedRow | undefined) {
  return { open: BigInt(row?.open ?? 0n), active: BigInt(row?.active ?? 0n) }
}

async function readFacts(session: QueryExecutorProvider, relayerId: string, sums: RawBuilder<ReservedRow>) {
  const { rows } = await sql<ReservedRow & (ChainHead | Record<keyof ChainHead, null>)>`
    select sums.*, head.* from (${sums}) sums left join (
      select ${HEAD_COLUMNS} from audit_chains where chain = ${chainOf(relayerId)}) head on true`.execute(
    session,
  )
  const [row] = rows
  return { sums: toSums(row), head: row === undefined || row.number === null ? undefined : row }
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
  writer: TransactionWriter<StatementQueue>,
  { relayerId, transactions, changes, head }: AdmittedRows,
): Promise<boolean> {
  const [, isAppended] = await Promise.all([
    insertTransactions(writer, transactions),
    head !== undefined && appendAfter(writer.tx, chainOf(relayerId), { head, changes }),
  ])
  return isAppended
}
