import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import type { AlertKind } from './alert.ts'
import type { WatchedState } from './watched-states.ts'

/** Reads the states that a process has stored. */
export async function findWatchedStates(db: Db): Promise<WatchedState[]> {
  const rows = await db.selectFrom('watched_states').selectAll().execute()
  return rows.map(({ kind, subject, state, since, seen_at }) => ({
    kind: kind as AlertKind,
    subject,
    state,
    since,
    seenAt: seen_at,
  }))
}

/** Stores these states and forgets all others, in one statement. */
export async function saveWatchedStates(db: Db, states: readonly WatchedState[]): Promise<void> {
  await sql`
    with wanted as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(states)}::jsonb)
        as wanted (kind text, subject text, state text, since timestamptz, "seenAt" timestamptz)),
    forgotten as (
      delete from watched_states s
      where not exists (select from wanted w where w.kind = s.kind and w.subject = s.subject))
    insert into watched_states (kind, subject, state, since, seen_at)
    select kind, subject, state, since, "seenAt" from wanted
    on conflict (kind, subject) do update
      set state = excluded.state, since = excluded.since, seen_at = excluded.seen_at`.execute(db)
}
