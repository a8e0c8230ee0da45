import { type Selectable, sql, type Transaction } from 'kysely'
import { type ChainHead, HEAD_COLUMNS } from '../../audit/append-store.ts'
import { chainOf } from '../../audit/entry.ts'
import type { RelayersTable, Schema } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { toRelayer } from '../../relayers/relayer-codec.ts'
import { reservation } from './work-store.ts'

type Tx = Transaction<Schema>

/**
 * Locks a relayer for readers and then its nonce counters, until the commit, as `lockRelayer` and `lockAccount` do one after the other: the
 * counters depend on the row of the relayer, so the order is the same. Returns the relayer; undefined when there is none.
 */
export async function lockForAdmission(tx: Tx, relayerId: string): Promise<Relayer | undefined> {
  const { rows } = await sql<Selectable<RelayersTable>>`
    with relayer as materialized (
      select * from relayers where id = ${relayerId} and removed_at is null for share
    ), counters as materialized (
      select address from accounts where relayer_id in (select id from relayer) order by address for update
    )
    select relayer.*, (select count(*) from counters) as counters from relayer`.execute(tx)
  const [row] = rows
  return row && toRelayer(row)
}

/** The facts that an admission compares its candidates with, read under its locks. */
export interface AdmissionFacts {
  /** The costs of the open transactions, in the smallest unit. */
  readonly reserved: bigint
  /** The end of the relayer's chain in the audit log; undefined when it has no entry. Another writer may append to it at any time. */
  readonly head: ChainHead | undefined
}

/**
 * Reads the reserved money and the end of the audit log in one statement. Call it after `lockForAdmission`, which is a statement of its own,
 * because none sees what was committed while it waited for a lock.
 */
export async function readAdmissionFacts(tx: Tx, relayerId: string, now: Date): Promise<AdmissionFacts> {
  const { rows } = await sql<{ reserved: bigint | null } & (ChainHead | Record<keyof ChainHead, null>)>`
    select (${reservation(tx, relayerId, now)}) as reserved, head.*
    from (select) one left join (
      select ${HEAD_COLUMNS} from audit_chains where chain = ${chainOf(relayerId)}) head on true`.execute(tx)
  const [row] = rows
  return {
    reserved: BigInt(row?.reserved ?? 0n),
    head: row === undefined || row.number === null ? undefined : row,
  }
}
