import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  // Unlogged: it is written several times a second, and a key whose row a crash of the server has taken starts with a full bucket.
  `create unlogged table rate_limits (
    key text primary key,
    tokens double precision not null,
    filled_at timestamptz not null
  )`,
]

/** Adds the buckets that processes share. `database/access-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
