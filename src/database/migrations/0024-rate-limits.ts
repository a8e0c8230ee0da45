import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  // Logged, although its loss would do no harm: after a power cut, the embedded engine does not start with an unlogged table.
  `create table rate_limits (
    key text primary key,
    tokens double precision not null,
    filled_at timestamptz not null
  )`,
]

/** Adds the buckets that processes share. `database/access-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
