import { type Kysely, sql } from 'kysely'

/** Adds numbers and readers to the event log, and deliveries, keys and a pause to notifications. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `alter table events
    alter column relayer_id drop not null,
    add column uid uuid not null default gen_random_uuid(),
    add column notification_id text,
    add column number bigint`,
  // Existing events were committed before, so the order of their ids is a valid order.
  'update events set number = ranked.number from (select id, row_number() over (order by id) as number from events) ranked where ranked.id = events.id',
  'create unique index events_number on events (number) where number is not null',
  'create index events_of_relayer on events (relayer_id, number) where number is not null',
  'create index events_unnumbered on events (id) where number is null',
  'create index events_by_age on events (created_at)',
  `create table event_log (
    only_row boolean primary key default true check (only_row),
    last_number bigint not null,
    relayed_number bigint not null
  )`,
  'insert into event_log (last_number, relayed_number) select coalesce(max(number), 0), coalesce(max(number), 0) from events',
  // A trigger wakes the readers, so that no writer of events can forget it. It fires once at the commit, for any number of rows.
  `create function announce_events() returns trigger language plpgsql as $$
    begin
      perform pg_notify('events_written', '');
      return null;
    end $$`,
  'create trigger announce_events after insert on events for each statement execute function announce_events()',
  `alter table notifications
    add column paused boolean not null default false,
    add column paused_reason text`,
  `create table notification_keys (
    id bigint generated always as identity primary key,
    notification_id text not null references notifications (id) on delete cascade,
    source text not null,
    sealed bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz
  )`,
  'create index notification_keys_of on notification_keys (notification_id, id)',
  `create table deliveries (
    id uuid primary key,
    notification_id text not null references notifications (id) on delete cascade,
    event_id bigint not null references events (id) on delete cascade,
    event_number bigint not null,
    lane text not null,
    status text not null,
    tries integer not null default 0,
    give_up_at timestamptz not null,
    next_try_at timestamptz,
    created_at timestamptz not null default now(),
    tried_at timestamptz,
    settled_at timestamptz,
    last_try jsonb,
    unique (event_id, notification_id)
  )`,
  'create index deliveries_listed on deliveries (notification_id, event_number)',
  'create index deliveries_by_status on deliveries (notification_id, status, event_number)',
  `create index deliveries_open on deliveries (notification_id, lane, event_number)
    where status in ('pending', 'waiting')`,
]
