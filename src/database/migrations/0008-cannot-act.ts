import { type Kysely, sql } from 'kysely'

/** The relayers that a process cannot act for, so that the others leave none of them to it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table processes add column cannot_act text[] not null default '{}'`).execute(db)
}
