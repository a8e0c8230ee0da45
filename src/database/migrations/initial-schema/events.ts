/** The event log and its readers: streams and alerts. Deliveries to notifications have their own tables. */
export const EVENTS: readonly string[] = [
  // The number of the last event; 0 before the first, which gets 1.
  'create sequence event_numbers minvalue 0',
  "select setval('event_numbers', 0)",

  // An event gets its number when it is written, and may be committed after one with a higher number. The
  // lock shows readers that events with numbers above its key may still be committed. One lock for each
  // database transaction is enough, so a local setting remembers it. The first key of the lock is arbitrary
  // (also in events/store.ts); the second one is the last number, cut to 31 bits.
  `create function next_event_number() returns bigint language plpgsql as $$
    begin
      if coalesce(current_setting('relayer.writes_events', true), '') = '' then
        perform pg_advisory_xact_lock_shared(1919248499, (last_value % 2147483648)::integer) from event_numbers;
        perform set_config('relayer.writes_events', 'yes', true);
      end if;
      return nextval('event_numbers');
    end $$`,

  // Written in the database transaction of the change (I8).
  `create table events (
    -- The order of writing. A writer that failed leaves a gap.
    number bigint primary key default next_event_number(),
    -- The id for receivers.
    uid uuid not null default gen_random_uuid(),
    created_at timestamptz not null default now(),
    -- Null for a test event, and for an alert that is not about one relayer.
    relayer_id text,
    transaction_id text,
    -- The notification that the relayer had when the event happened.
    notification_id text,
    type text not null,
    -- What its record was then, without the content that its transaction still has.
    payload jsonb not null
  )`,
  'create index events_of_relayer on events (relayer_id, number)',
  'create index events_of_notification on events (notification_id, number) where notification_id is not null',
  // A hash, because only equality is needed: ids of 36 characters would make this the largest index of all.
  'create index events_of_transaction on events using hash (transaction_id)',
  // Nearly all events are of one type, and are found without an index of types.
  "create index events_of_rare_type on events (type, number) where type <> 'transaction_update'",
  // Wakes the readers.
  `create function announce_events() returns trigger language plpgsql as $$
    begin
      perform pg_notify('events_written', '');
      return null;
    end $$`,
  'create trigger announce_events after insert on events for each statement execute function announce_events()',

  // Continues the numbers at the current time, in microseconds. A database that went back in time no longer
  // has the last numbers, and readers that have those events must not get others under the same numbers. The
  // lock waits for writers that have a number but no commit: a reader would consider the skipped numbers
  // settled before theirs are. An empty log begins at 1.
  `create function skip_issued_event_numbers() returns void language plpgsql as $$
    begin
      lock table events in exclusive mode;
      perform setval('event_numbers', greatest(last_value, (extract(epoch from clock_timestamp()) * 1000000)::bigint))
        from event_numbers where last_value > 0;
    end $$`,

  // Tickets for event streams that were not used yet.
  `create table stream_tickets (
    -- The SHA-256 of the ticket, which itself is never stored.
    hash bytea primary key,
    -- The API key that asked for it; root for that of the environment.
    caller text not null,
    -- The stream has only these events; null for all.
    relayer_id text,
    event_type text,
    expires_at timestamptz not null
  )`,
  'create index stream_tickets_by_expiry on stream_tickets (expires_at)',

  // Alerts that fire: the row is written with the event of the beginning, and deleted with the event of the
  // end.
  `create table alerts (
    kind text not null,
    -- Names what it is about among all alerts of the kind.
    subject text not null,
    since timestamptz not null,
    -- Null if it is not about one relayer.
    relayer_id text,
    -- The ids of those that got the event.
    notifications jsonb not null,
    detail jsonb not null,
    primary key (kind, subject)
  )`,

  // The states that alerts wait for, such as an endpoint that is down, with their beginning. A restarted
  // process continues from there.
  `create table watched_states (
    kind text not null,
    subject text not null,
    state text not null,
    since timestamptz not null,
    seen_at timestamptz not null,
    primary key (kind, subject)
  )`,
]
