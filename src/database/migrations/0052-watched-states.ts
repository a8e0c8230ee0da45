import { type Kysely, sql } from 'kysely'

/** Adds what alerts wait for: an endpoint that is down, or a head that stands still, since when. A process that starts anew goes on from there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table watched_states (
    kind text not null,
    subject text not null,
    state text not null,
    since timestamptz not null,
    seen_at timestamptz not null,
    primary key (kind, subject))`.execute(db)
}
