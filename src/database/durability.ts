import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Database, Db } from './db.ts'
import { transact } from './locks/transact.ts'

/**
 * The levels of `DURABILITY`. `full`: an answered commit survives a power cut. `relaxed`: it survives a
 * killed process only.
 */
export const DURABILITIES = ['full', 'relaxed'] as const

export type Durability = (typeof DURABILITIES)[number]

/**
 * Reads from the settings of the database what an answered commit survives: those of PostgreSQL are its
 * operator's. Rejects with the driver's error when the database does not answer.
 */
export async function readDurability(db: Db): Promise<Durability> {
  const { rows } = await sql<{ synced: boolean }>`
    select current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as synced
  `.execute(db)
  return rows[0]?.synced ? 'full' : 'relaxed'
}

/**
 * Writes to the database and commits, which ends when the write is as safe as an accepted request. Nothing of
 * it stays. Rejects when the database takes no writes.
 */
export async function writeProbe(db: Db): Promise<void> {
  const name = `probe:${randomUUID()}`
  await transact(db, async (tx) => {
    await tx
      .insertInto('leases')
      .values({ name, owner: name, expires_at: sql<Date>`now()`, fence: 1n })
      .execute()
    await tx.deleteFrom('leases').where('name', '=', name).execute()
  })
}

/**
 * The part of an answered commit that the standbys of a PostgreSQL server hold. `synchronous`: at least one
 * has it. `asynchronous`: there are some, and none must have it. `interrupted`: one must have it and none is
 * there, so that no commit ends. `none`: the server knows no standby, as with a copy of its disk. `unknown`:
 * the user of the service may not see it, which the role `pg_monitor` allows.
 */
export type Replication = 'synchronous' | 'asynchronous' | 'interrupted' | 'none' | 'unknown'

/** The facts that a server tells about its standbys. */
export interface SeenStandbys {
  /** `synchronous_standby_names`: the standbys that a commit waits for; empty if it waits for none. */
  readonly names: string
  readonly standbys: number
  /** Those whose `sync_state` is `sync` or `quorum`. */
  readonly synchronous: number
  /** Those whose state is hidden. */
  readonly hidden: number
}

/** Judges what a server says about its standbys. Pure. */
export function replicationOf({ names, standbys, synchronous, hidden }: SeenStandbys): Replication {
  if (names === '') return standbys === 0 ? 'none' : 'asynchronous'
  if (synchronous > 0) return 'synchronous'
  return hidden > 0 ? 'unknown' : 'interrupted'
}

/** Reads what the standbys hold; undefined for the embedded database, which has none. */
export async function readReplication({
  engine,
  db,
}: Pick<Database, 'engine' | 'db'>): Promise<Replication | undefined> {
  if (engine === 'pglite') return undefined
  const { rows } = await sql<SeenStandbys>`
    select current_setting('synchronous_standby_names') as names, count(*)::integer as standbys,
      (count(*) filter (where sync_state in ('sync', 'quorum')))::integer as synchronous,
      (count(*) filter (where sync_state is null))::integer as hidden
    from pg_stat_replication`.execute(db)
  const [row] = rows
  return row && replicationOf(row)
}
