import { type Kysely, sql } from 'kysely'

/**
 * Gives an event its number when it is written, where a later statement wrote the whole row again. Readers learn from the locks of writers
 * up to which number every event is committed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `update events set number = log.last_number + fresh.rank
    from (select id, row_number() over (order by id) as rank from events where number is null) fresh, event_log log
    where events.id = fresh.id`,
  'create sequence event_numbers minvalue 0',
  `select setval('event_numbers', greatest(last_number, coalesce((select max(number) from events), 0)), true) from event_log`,
  // The lock tells readers that events with higher numbers than its key may be committed later. One lock for each database transaction is
  // enough, so a local setting remembers it. The first key of the lock is arbitrary; the second one is the last number, cut to 31 bits.
  `create function next_event_number() returns bigint language plpgsql as $$
    begin
      if coalesce(current_setting('relayer.writes_events', true), '') = '' then
        perform pg_advisory_xact_lock_shared(1919248499, (last_value % 2147483648)::integer) from event_numbers;
        perform set_config('relayer.writes_events', 'yes', true);
      end if;
      return nextval('event_numbers');
    end $$`,
  'drop index events_unnumbered, events_number, events_of_relayer, events_of_notification',
  `alter table events
    alter column number set default next_event_number(),
    alter column number set not null`,
  'create unique index events_number on events (number)',
  'create index events_of_relayer on events (relayer_id, number)',
  'create index events_of_notification on events (notification_id, number) where notification_id is not null',
  `create or replace function begin_deliveries() returns trigger language plpgsql as $$
    begin
      insert into delivery_cursors (notification_id, event_number) select new.id, last_value from event_numbers;
      return null;
    end $$`,
  'drop table event_log',
]
