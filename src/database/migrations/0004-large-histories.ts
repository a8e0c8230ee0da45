import { type Kysely, sql } from 'kysely'

/** Indexes and counts for what would read millions of rows to find a few, or to count them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const ADDED = 'select notification_id, status, 1 as change from added'
const REMOVED = 'select notification_id, status, -1 as change from removed'

const CHANGES: Readonly<Record<string, string>> = {
  insert: ADDED,
  update: `${ADDED} union all ${REMOVED}`,
  delete: REMOVED,
}

const REFERENCING: Readonly<Record<string, string>> = {
  insert: 'referencing new table as added',
  update: 'referencing new table as added old table as removed',
  delete: 'referencing old table as removed',
}

const STATEMENTS: readonly string[] = [
  // The newest setup transaction is read in any phase.
  'drop index transactions_setup',
  "create index transactions_setup on transactions (relayer_id, position) where purpose = 'setup'",
  // A search for a hash also finds what was signed for the chain before its reset.
  'create index attempts_before_reset on attempts (hash) where reset_at is not null',
  // Nearly all events are of one type, and are found without an index of types.
  "create index events_of_rare_type on events (type, number) where type <> 'transaction_update'",
  'create index approvals_by_decision on approvals (decision, created_at, transaction_id)',

  // The deliveries of each notification by status, as changes: their sum is exact at every commit, and no writer waits for another one, as it would
  // for a row with the sum. The service adds the rows up from time to time.
  `create table delivery_counts (
    notification_id text not null,
    status text not null,
    count bigint not null
  )`,
  `insert into delivery_counts (notification_id, status, count)
    select notification_id, status, count(*) from deliveries group by notification_id, status`,
  ...['insert', 'update', 'delete'].flatMap((event) => [
    `create function count_deliveries_at_${event}() returns trigger language plpgsql as $$
      begin
        insert into delivery_counts (notification_id, status, count)
        select notification_id, status, sum(change) from (${CHANGES[event]}) changes
        group by notification_id, status having sum(change) <> 0;
        return null;
      end $$`,
    `create trigger count_deliveries_at_${event} after ${event} on deliveries ${REFERENCING[event]}
      for each statement execute function count_deliveries_at_${event}()`,
  ]),
]
