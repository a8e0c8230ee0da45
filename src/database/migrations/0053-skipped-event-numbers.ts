import { type Kysely, sql } from 'kysely'

/**
 * Adds the function that continues the numbers of events at the present time, in microseconds. A database that went back in time has forgotten the
 * last numbers, and readers that have those events must not get others under the same numbers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(FUNCTION).execute(db)
}

// The lock waits for writers that have a number and no commit: a reader would take the skipped numbers for settled before theirs are. An empty log
// begins at 1.
const FUNCTION = `create function skip_issued_event_numbers() returns void language plpgsql as $$
  begin
    lock table events in exclusive mode;
    perform setval('event_numbers', greatest(last_value, (extract(epoch from clock_timestamp()) * 1000000)::bigint))
      from event_numbers where last_value > 0;
  end $$`
