import { sql } from 'kysely'
import type { Db, Tx } from './db.ts'

/**
 * An exclusive right to work on something for a limited time. All times are those of the database, so the
 * clocks of processes may differ.
 */
export interface Lease {
  readonly name: string
  readonly owner: string
  /**
   * A number that grows with each new owner. A writer with an older fence has lost the lease, independent of
   * its clock.
   */
  readonly fence: bigint
}

/** Another process owns the lease now, so the write must not happen. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  readonly lease: Lease

  constructor(lease: Lease) {
    super(`The lease "${lease.name}" is no longer held by ${lease.owner}.`)
    this.lease = lease
  }
}

interface LeaseRequest {
  readonly name: string
  /** Unique for each run of a process, not only for each machine. */
  readonly owner: string
  readonly ttlMs: number
}

/**
 * Lets the commit of the statement return before its log is on the disk, because leases are renewed all the
 * time. After a crash of the database server the row may be an older one. That is safe: a process that
 * acquired the lease in the meantime is then no longer its owner with its fence, and `assertFence` refuses
 * what it writes.
 */
export const UNSYNCED = sql`unsynced as materialized (select set_config('synchronous_commit', 'off', true))`

/**
 * Acquires the lease, or renews it if `owner` has it. Undefined while another owner has it. It is one
 * statement, so two callers cannot both see a free lease. In a long transaction `now()` is the start of the
 * transaction, so the lease only ends earlier. Do not call it in a transaction that must survive a power cut.
 */
export async function acquireLease(db: Db, request: LeaseRequest): Promise<Lease | undefined> {
  const { name, owner, ttlMs } = request
  // A lease that ends later than a new one would was written while the clock of the database was ahead.
  const { rows } = await sql<{ fence: bigint }>`
    with ${UNSYNCED}
    insert into leases (name, owner, expires_at, fence)
    select ${name}::text, ${owner}::text, ${fromNow(ttlMs)}, 1 from unsynced
    on conflict (name) do update set owner = excluded.owner, expires_at = excluded.expires_at,
      fence = leases.fence + (leases.owner <> excluded.owner)::int
      where leases.owner = excluded.owner or leases.expires_at <= now() or leases.expires_at > excluded.expires_at + ${LEAD}
    returning fence`.execute(db)
  const [row] = rows
  return row && { name, owner, fence: row.fence }
}

/**
 * Releases the lease. The row stays, so that the fence never restarts. Does nothing when the lease was lost.
 */
export async function releaseLease(db: Db, { name, owner, fence }: Lease): Promise<void> {
  await sql`
    with ${UNSYNCED}
    update leases set expires_at = now() from unsynced
    where name = ${name} and owner = ${owner} and fence = ${fence}`.execute(db)
}

/**
 * Ends all leases. Use it only for a database that no other process can have open: otherwise, after a crash,
 * the leases of the dead process would have to expire first.
 */
export async function endAllLeases(db: Db): Promise<void> {
  await db.updateTable('leases').set({ expires_at: sql<Date>`now()` }).execute()
}

/** Counts the leases of `owner` by kind, which is the part of the name before the colon. */
export async function countLeases(db: Db, owner: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ kind: string; count: bigint }>`
    select split_part(name, ':', 1) as kind, count(*) as count from leases
    where owner = ${owner} and expires_at > now() group by 1`.execute(db)
  return new Map(rows.map(({ kind, count }) => [kind, Number(count)]))
}

/**
 * Asserts inside a database transaction that the lease still has this owner, and locks its row until the
 * commit, so that the next owner waits. A lease whose deadline has passed is valid until another owner
 * acquires it.
 * @throws LeaseLostError if another owner has acquired it
 */
export async function assertFence(tx: Tx, lease: Lease): Promise<void> {
  const { rows } = await lockFence(lease).execute(tx)
  if (rows.length === 0) throw new LeaseLostError(lease)
}

/**
 * Builds the query of `assertFence`, for a statement that locks more: one row, or none when another owner has
 * acquired the lease.
 */
export function lockFence({ name, owner, fence }: Lease) {
  // The order of locks: locks/lock-order.md.
  return sql`select fence from leases where name = ${name} and owner = ${owner} and fence = ${fence} for share`
}

/**
 * All processes take a lease of one name for nearly the same time, so one that ends this much later was
 * written by a clock ahead.
 */
export const LEAD = sql`interval '1 minute'`

/** The time of the database in this many ms. */
export function fromNow(ttlMs: number) {
  return sql<Date>`now() + ${ttlMs}::float8 * interval '1 millisecond'`
}
