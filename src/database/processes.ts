/**
 * The processes that share the database. Each one says twice a second that it is alive, in one statement,
 * however many accounts it works for: a lease that lasts as long as its owner is alive needs no renewal of
 * its own.
 */
import { sql } from 'kysely'
import type { Db } from './db.ts'
import { fromNow, LEAD, type Lease, UNSYNCED } from './lease.ts'

/**
 * The database notifies this channel when a process starts or stops. The death of a process is seen by the
 * time that has passed.
 */
export const PROCESSES_CHANNEL = 'processes_changed'

/**
 * Time in ms after its last sign of life when a process counts as dead. Others work for its accounts then.
 */
export const LIFETIME_MS = 2_000

/**
 * The condition that the row of `processes` is of a live process. A time too far ahead was written while the
 * clock of the database was ahead.
 */
const IS_ALIVE = sql`(process.alive_until > now() and process.alive_until <= ${fromNow(LIFETIME_MS)} + ${LEAD})`

/**
 * The condition that no one has the lease of the row of `leases`: it has ended, or the process of its owner
 * is dead.
 */
const IS_FREE = sql`case when leases.expires_at = 'infinity'
  then not exists (select from processes process where process.id = leases.owner and ${IS_ALIVE})
  else leases.expires_at <= now() or leases.expires_at > ${fromNow(LIFETIME_MS)} + ${LEAD} end`

/** A process that shares the database. */
export interface LiveProcess {
  /** The owner in leases. */
  readonly id: string
  /** The ids of the relayers that it knows and cannot act for: it lacks their network or their key. */
  readonly cannotAct: readonly string[]
}

/**
 * Says that the process is alive, and returns all that are, by id. The first call of a process tells the
 * others.
 */
export async function signalLife(db: Db, { id, cannotAct }: LiveProcess): Promise<LiveProcess[]> {
  const { rows } = await sql<LiveProcess>`
    with ${UNSYNCED},
    signal as (
      insert into processes (id, alive_until, cannot_act)
      select ${id}::text, ${fromNow(LIFETIME_MS)}, ${cannotAct}::text[] from unsynced
      on conflict (id) do update set alive_until = excluded.alive_until, cannot_act = excluded.cannot_act),
    told as materialized (
      select pg_notify(${PROCESSES_CHANNEL}, '') from unsynced
      where not exists (select from processes process where process.id = ${id} and ${IS_ALIVE})),
    buried as (delete from processes where id <> ${id} and alive_until < now() - interval '1 minute')
    select id, cannot_act as "cannotAct" from (
      select id, cannot_act from processes process where ${IS_ALIVE} and id <> ${id}
      union all select ${id}::text, ${cannotAct}::text[]) live
    where (select count(*) from told) >= 0
    order by id`.execute(db)
  return rows
}

/**
 * Says that the process has stopped, which ends the leases that last as long as it is alive, and tells the
 * others.
 */
export async function signalEnd(db: Db, id: string): Promise<void> {
  await sql`
    with gone as (delete from processes where id = ${id} returning id)
    select pg_notify(${PROCESSES_CHANNEL}, '') from gone`.execute(db)
}

/**
 * Acquires a lease that lasts as long as its owner is alive, or until it is released. Undefined while another
 * live process has it, or a lease of that name has not ended. One statement, as `acquireLease`.
 */
export async function acquireForLife(
  db: Db,
  { name, owner }: Omit<Lease, 'fence'>,
): Promise<Lease | undefined> {
  const { rows } = await sql<{ fence: bigint }>`
    with ${UNSYNCED}
    insert into leases (name, owner, expires_at, fence) select ${name}::text, ${owner}::text, 'infinity', 1 from unsynced
    on conflict (name) do update set owner = excluded.owner, expires_at = excluded.expires_at,
      fence = leases.fence + (leases.owner <> excluded.owner)::int
      where leases.owner = excluded.owner or ${IS_FREE}
    returning fence`.execute(db)
  const [row] = rows
  return row && { name, owner, fence: row.fence }
}

/** Returns the names whose lease no one has. */
export async function findFree(db: Db, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const { rows } = await sql<{ name: string }>`
    select wanted.name from unnest(${names}::text[]) as wanted (name)
    left join leases on leases.name = wanted.name
    where leases.name is null or ${IS_FREE}`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Releases the leases of these names that the process has. */
export async function releaseOwn(
  db: Db,
  { owner, names }: { readonly owner: string; readonly names: readonly string[] },
): Promise<void> {
  await sql`
    with ${UNSYNCED}
    update leases set expires_at = now() from unsynced where name = any(${names}::text[]) and owner = ${owner}`.execute(
    db,
  )
}
