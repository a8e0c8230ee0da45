import { type Kysely, sql } from 'kysely'

/**
 * Replaces the job queue of pg-boss by cursors into the event log. A delivery gets a row with the result of its first try; until then its
 * event behind the cursor is enough. The jobs are dropped: each belonged to a `pending` delivery, which has the time of its next try.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'drop schema if exists pgboss cascade',
  // A job without a delay had no time.
  "update deliveries set next_try_at = now() where status = 'pending' and next_try_at is null",
  'drop index deliveries_listed, deliveries_by_status, deliveries_open',
  // The service deletes deliveries with their events and notifications itself: a foreign key costs more than the row.
  `alter table deliveries
    drop constraint deliveries_pkey,
    drop constraint deliveries_event_id_notification_id_key,
    drop constraint deliveries_event_id_fkey,
    drop constraint deliveries_notification_id_fkey,
    drop column created_at,
    alter column id drop not null,
    alter column id drop default,
    alter column give_up_at drop not null`,
  // The status is included so that deliveries of a status are counted without reading their rows.
  'alter table deliveries add constraint deliveries_pkey primary key (notification_id, event_number) include (status)',
  // The ids of later deliveries are derived from their events.
  'create unique index deliveries_id on deliveries (id) where id is not null',
  "create index deliveries_due on deliveries (notification_id, next_try_at) where status = 'pending'",
  `create index deliveries_open on deliveries (notification_id, ordering_key, event_number)
    where status in ('pending', 'waiting')`,
  "create index deliveries_dead on deliveries (notification_id, event_number) where status = 'dead'",
  `create table delivery_cursors (
    notification_id text primary key references notifications (id) on delete cascade,
    event_number bigint not null,
    window_from timestamptz,
    -- A time of JavaScript has no more digits, and it is compared with this one.
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
  )`,
  'insert into delivery_cursors (notification_id, event_number) select id, relayed_number from notifications, event_log',
  'alter table event_log drop column relayed_number',
  // A notification gets the events after its creation.
  `create function begin_deliveries() returns trigger language plpgsql as $$
    begin
      insert into delivery_cursors (notification_id, event_number) select new.id, last_number from event_log;
      return null;
    end $$`,
  'create trigger begin_deliveries after insert on notifications for each row execute function begin_deliveries()',
  // The process that delivers keeps copies of notifications and keys. Triggers tell it, so that no writer can forget it.
  `create function announce_notifications() returns trigger language plpgsql as $$
    begin
      perform pg_notify('deliveries_due', '');
      return null;
    end $$`,
  ...['notifications', 'notification_keys'].map(
    (table) => `create trigger announce_notifications after insert or update or delete on ${table}
      for each statement execute function announce_notifications()`,
  ),
  `create index events_of_notification on events (notification_id, number)
    where number is not null and notification_id is not null`,
]
