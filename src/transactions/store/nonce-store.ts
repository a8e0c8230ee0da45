import { sql } from 'kysely'
import type { Db, Tx } from '../../database/db.ts'
import { type Lease, LeaseLostError, lockFence } from '../../database/lease.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { Transaction } from '../model/transaction.ts'

/**
 * Locks the relayer's nonce counters until the commit, and returns them by source account. Counters are
 * locked before transactions (`database/locks/lock-order.md`).
 */
export async function lockAccount(tx: Tx, relayerId: string): Promise<Map<string, bigint>> {
  return toCounters(await nextNonces(tx, relayerId).orderBy('address').forUpdate().execute())
}

/** Reads the relayer's nonce counters by source account. Another writer may change them at any time. */
export async function findNextNonces(db: Db, relayerId: string): Promise<Map<string, bigint>> {
  return toCounters(await nextNonces(db, relayerId).execute())
}

function nextNonces(db: Db, relayerId: string) {
  return db.selectFrom('accounts').select(['address', 'next_nonce']).where('relayer_id', '=', relayerId)
}

function toCounters(rows: readonly { readonly address: string; readonly next_nonce: bigint | null }[]) {
  return new Map(rows.flatMap((row) => (row.next_nonce === null ? [] : [[row.address, row.next_nonce]])))
}

/**
 * Stores the next nonce of a source account. With `null`, the service reads it from the chain before it
 * assigns the next one; the chain may have used those that were assigned.
 */
export async function setNextNonce(
  tx: Tx,
  { relayerId, address, nonce }: { relayerId: string; address: string; nonce: bigint | null },
): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ relayer_id: relayerId, address, next_nonce: nonce, known_nonce: null })
    .onConflict((conflict) =>
      conflict.columns(['relayer_id', 'address']).doUpdateSet({
        next_nonce: nonce,
        ...(nonce === null && {
          known_nonce: sql<bigint | null>`greatest(accounts.known_nonce, accounts.next_nonce)`,
        }),
      }),
    )
    .execute()
}

/**
 * Finds the nonce of each source account up to which the records explain what the chain has used: the
 * counter, the nonces of stored transactions, those that the account had when it was first seen, and those
 * that an operator accepted. Accounts that the relayer has not seen yet, or has again after it was deleted,
 * are absent.
 */
export async function findExplainedNonces(
  db: Db,
  { id, network }: Pick<Relayer, 'id' | 'network'>,
  addresses: readonly string[],
): Promise<Map<string, bigint>> {
  if (addresses.length === 0) return new Map()
  const { rows } = await sql<{ address: string; nonce: bigint }>`
    select a.address, greatest(a.next_nonce, a.known_nonce, newest.nonce + 1) as nonce
    from accounts a
    left join lateral (
      select nonce from transactions
      where relayer_id = ${id} and network = ${network} and source_account = a.address and nonce is not null and reset_at is null
      order by nonce desc limit 1) newest on true
    where a.relayer_id = ${id} and a.address = any(${addresses}::text[])
      and coalesce(a.next_nonce, a.known_nonce) is not null`.execute(db)
  return new Map(rows.map(({ address, nonce }) => [address, nonce]))
}

/** Finds the nonces of pre-signed content that a transaction has already; each entry is `address nonce`. */
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
    .where('reset_at', 'is', null)
    .execute()
  return new Set(rows.map((row) => `${row.source_account} ${row.nonce}`))
}

/**
 * Finds the highest confirmed nonce of each source account on the current chain; accounts without any are
 * absent.
 */
export async function findConfirmedNonces(
  db: Db,
  { id, network }: Pick<Relayer, 'id' | 'network'>,
  addresses: readonly string[],
): Promise<Map<string, bigint>> {
  if (addresses.length === 0) return new Map()
  // The query reads the end of the index of nonces, so its cost does not grow with the history.
  const { rows } = await sql<{ address: string; nonce: bigint }>`
    select account.address, newest.nonce
    from unnest(${addresses}::text[]) as account (address)
    cross join lateral (
      select nonce from transactions
      where relayer_id = ${id} and network = ${network} and source_account = account.address and nonce is not null
        and reset_at is null and status = 'confirmed'
      order by nonce desc limit 1) newest`.execute(db)
  return new Map(rows.map(({ address, nonce }) => [address, nonce]))
}

/**
 * Asserts the lease, and then locks the relayer's nonce counters until the commit, in one statement: all
 * writers lock in one order. Returns the counters by source account.
 * @throws LeaseLostError if another owner has acquired the lease
 */
export async function lockCounters(
  tx: Tx,
  { relayerId, lease }: { readonly relayerId: string; readonly lease: Lease },
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await sql<LockedRows>`
    with fenced as materialized (${lockFence(lease)}),
    counters as materialized (
      select address, next_nonce from accounts
      where relayer_id = ${relayerId} and (select count(*) from fenced) > 0 order by address for update)
    select exists (select from fenced) as fenced,
      (select jsonb_object_agg(address, next_nonce::text) from counters where next_nonce is not null) as counters`.execute(
    tx,
  )
  const [row] = rows
  if (row?.fenced !== true) throw new LeaseLostError(lease)
  return new Map(
    Object.entries(row.counters ?? {}).map(([address, nonce]): [string, bigint] => [address, BigInt(nonce)]),
  )
}

interface LockedRows {
  readonly fenced: boolean
  readonly counters: Readonly<Record<string, string>> | null
}

/**
 * Finds the nonces of the source account of `head` in `from` ≤ nonce < `to` that a transaction has, in any
 * status.
 */
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
    .where('reset_at', 'is', null)
    .execute()
  return new Set(rows.map((row) => row.nonce ?? 0n))
}
