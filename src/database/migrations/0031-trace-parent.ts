import { type Kysely, sql } from 'kysely'

/** Adds the trace context of the request that created a transaction. `database/transaction-tables.ts` describes the column. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table transactions add column trace_parent text').execute(db)
}
