import { type Kysely, sql } from 'kysely'

/** Adds the time before which nothing is signed. `database/transaction-tables.ts` describes the column. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table transactions add column valid_from timestamptz').execute(db)
}
