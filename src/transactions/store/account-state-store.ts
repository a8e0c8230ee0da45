import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { IS_UNMINED, isTimely } from './due-store.ts'

/** The stored part of the state of a relayer's account. */
export interface StoredAccountState {
  /** The number of transactions that are `pending`, `sent` or `submitted`. */
  readonly open: number
  /** Those of them that wait for an approval, or for their `valid_from`. */
  readonly deferred: number
  /** When the oldest of the others was accepted, or its later `valid_from`; undefined if there is none. */
  readonly oldestOpenAt: Date | undefined
  readonly lastConfirmedAt: Date | undefined
  /** The next nonce of the relayer's own account; undefined until a nonce was assigned. */
  readonly nextNonce: bigint | undefined
}

/** Reads everything in one statement, so that the values belong to the same moment. */
export async function readAccountState(
  db: Db,
  { id, address }: { readonly id: string; readonly address: string },
  now: Date,
): Promise<StoredAccountState> {
  const { rows } = await sql<{
    open: bigint
    deferred: bigint
    oldest: Date | null
    last: Date | null
    next_nonce: bigint | null
  }>`
    select counted.*,
      (select confirmed_at from transactions where relayer_id = ${id} and status = 'confirmed' and confirmed_at is not null
        order by confirmed_at desc limit 1) as last,
      (select next_nonce from accounts where relayer_id = ${id} and address = ${address}) as next_nonce
    from (
      select count(*) as open, count(*) filter (where not ${isTimely(now)}) as deferred,
        min(greatest(created_at, valid_from, released_at)) filter (where ${isTimely(now)}) as oldest
      from transactions where relayer_id = ${id} and ${IS_UNMINED}) counted`.execute(db)
  const [row] = rows
  return {
    open: Number(row?.open ?? 0n),
    deferred: Number(row?.deferred ?? 0n),
    oldestOpenAt: row?.oldest ?? undefined,
    lastConfirmedAt: row?.last ?? undefined,
    nextNonce: row?.next_nonce ?? undefined,
  }
}
