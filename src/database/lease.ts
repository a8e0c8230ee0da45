import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/** The right to work on something, for a while. All times are the database's own, so clocks of processes may differ. */
export interface Lease {
  readonly name: string
  readonly owner: string
  /** Larger for each new owner. Who writes with an older fence has lost the lease, whatever its clock says. */
  readonly fence: bigint
}

/** Somebody else owns the lease now; what was to be written under it must not be. */
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
  /** Unique for each process life, not only for each machine. */
  readonly owner: string
  readonly ttlMs: number
}

/**
 * Takes the lease, or keeps it when it is already `owner`'s. Undefined while somebody else holds it. One statement, so
 * two callers cannot both see it free. Inside a long transaction `now()` is its start, which errs on the careful side.
 */
export async function acquireLease(db: Kysely<Schema>, request: LeaseRequest): Promise<Lease | undefined> {
  const { name, owner } = request
  const row = await db
    .insertInto('leases')
    .values({ name, owner, expires_at: fromNow(request.ttlMs), fence: 1n })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({
          owner: (eb) => eb.ref('excluded.owner'),
          expires_at: (eb) => eb.ref('excluded.expires_at'),
          fence: sql<bigint>`leases.fence + (leases.owner <> excluded.owner)::int`,
        })
        .where(sql<boolean>`leases.owner = excluded.owner or leases.expires_at <= now()`),
    )
    .returning('fence')
    .executeTakeFirst()
  return row && { name, owner, fence: row.fence }
}

/** Moves the deadline to `ttlMs` from now. False when the lease went to somebody else meanwhile. */
export async function extendLease(db: Kysely<Schema>, lease: Lease, ttlMs: number): Promise<boolean> {
  const { numUpdatedRows } = await held(db, lease)
    .set({ expires_at: fromNow(ttlMs) })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives the lease back. The row stays, so that the fence never restarts. Does nothing when it was lost before. */
export async function releaseLease(db: Kysely<Schema>, lease: Lease): Promise<void> {
  await held(db, lease).set({ expires_at: sql<Date>`now()` }).execute()
}

/**
 * Ends every lease. Only for a database that nobody else can have open: after a crash the leases of the dead process
 * would otherwise have to run out first.
 */
export async function endAllLeases(db: Kysely<Schema>): Promise<void> {
  await db.updateTable('leases').set({ expires_at: sql<Date>`now()` }).execute()
}

/** How many leases `owner` holds, by kind: what their names have before the colon. */
export async function countLeases(db: Kysely<Schema>, owner: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ kind: string; count: bigint }>`
    select split_part(name, ':', 1) as kind, count(*) as count from leases
    where owner = ${owner} and expires_at > now() group by 1`.execute(db)
  return new Map(rows.map(({ kind, count }) => [kind, Number(count)]))
}

/**
 * Proves, inside a database transaction, that the lease is still ours, and keeps it so until the commit: the row lock
 * makes the next owner wait. A deadline that has passed with nobody taking over is still ours.
 * @throws LeaseLostError when the fence moved on
 */
export async function assertFence(tx: Transaction<Schema>, lease: Lease): Promise<void> {
  const row = await tx
    .selectFrom('leases')
    .select('fence')
    .where('name', '=', lease.name)
    .where('owner', '=', lease.owner)
    .where('fence', '=', lease.fence)
    .forShare()
    .executeTakeFirst()
  if (!row) throw new LeaseLostError(lease)
}

function held(db: Kysely<Schema>, { name, owner, fence }: Lease) {
  return db
    .updateTable('leases')
    .where('name', '=', name)
    .where('owner', '=', owner)
    .where('fence', '=', fence)
}

function fromNow(ttlMs: number) {
  return sql<Date>`now() + ${ttlMs}::float8 * interval '1 millisecond'`
}
