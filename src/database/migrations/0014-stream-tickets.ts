import { type Kysely, sql } from 'kysely'

/** Adds the tickets of event streams, and an index for the oldest delivery that waits. `database/event-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table stream_tickets (
    hash bytea primary key,
    caller text not null,
    relayer_id text,
    event_type text,
    expires_at timestamptz not null
  )`,
  'create index stream_tickets_by_expiry on stream_tickets (expires_at)',
  // Deliveries that arrive at the first try are never in this index.
  `create index deliveries_waiting on deliveries (notification_id, event_number)
    where status in ('pending', 'waiting')`,
]
