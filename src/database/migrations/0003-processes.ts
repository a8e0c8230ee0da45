import { type Kysely, sql } from 'kysely'

/** The processes that share the database. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table processes (
    -- The owner in \`leases\`. A lease whose \`expires_at\` is infinity lasts as long as the process of its owner is alive.
    id text primary key,
    started_at timestamptz not null default now(),
    -- The process is alive until then. It moves the time while it runs.
    alive_until timestamptz not null
  )`,
    )
    .execute(db)
}
