const ADDED = 'select notification_id, status, 1 as change from added'
const REMOVED = 'select notification_id, status, -1 as change from removed'

/** The triggers that keep the counts of deliveries, with the changes of each statement and its rows. */
const COUNTED = [
  { event: 'insert', changes: ADDED, rows: 'new table as added' },
  {
    event: 'update',
    changes: `${ADDED} union all ${REMOVED}`,
    rows: 'new table as added old table as removed',
  },
  { event: 'delete', changes: REMOVED, rows: 'old table as removed' },
]

/** Destinations for events, and the deliveries to them. The table of events exists before these. */
export const NOTIFICATIONS: readonly string[] = [
  `create table notifications (
    id text primary key,
    type text not null,
    -- Sealed where the deployment has a key for it.
    url text not null,
    -- A caller chose the url, so it may lead only to addresses that are allowed for callers.
    url_untrusted boolean not null default false,
    -- The kinds of alerts that it gets; null for all. A webhook gets those of the relayers that name it.
    alerts jsonb,
    -- A webhook with both gets the events of the transactions with this reference that this API key requested.
    reference text,
    requested_by text check ((reference is null) = (requested_by is null)),
    has_signing_key boolean not null,
    -- Nothing is sent, and deliveries wait.
    paused boolean not null default false,
    -- gone: the receiver answered that it does not exist any more.
    paused_reason text check (paused_reason in ('operator', 'gone')),
    created_at timestamptz not null default now()
  )`,

  `create unique index notifications_of_transactions on notifications (reference, requested_by)
    where reference is not null`,

  // Signing keys, newest last. An older key signs until it expires.
  `create table notification_keys (
    id bigint generated always as identity primary key,
    notification_id text not null references notifications (id) on delete cascade,
    source text not null check (source in ('config', 'api')),
    sealed bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz
  )`,
  'create index notification_keys_of on notification_keys (notification_id, id)',

  // The place of each notification in the event log.
  `create table delivery_cursors (
    notification_id text primary key references notifications (id) on delete cascade,
    -- Every event up to this number has a row in deliveries. Later ones without a row were never tried.
    event_number bigint not null,
    -- The end of the last pause: deliveries without a row have their time from then on, where it is later than their event.
    window_from timestamptz,
    -- Distinguishes the notification from an earlier one with the same id. In milliseconds, because it is compared with times of JavaScript.
    created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp())
  )`,

  // One event for one notification, from the result of its first attempt on. Without foreign keys, which
  // would cost more than the row: the service deletes deliveries with their events and notifications itself.
  `create table deliveries (
    notification_id text not null,
    event_number bigint not null,
    -- Deliveries of one key arrive in the order of their events.
    ordering_key text not null,
    -- waiting for an earlier one of its key; pending: tried again at next_try_at.
    status text not null check (status in ('waiting', 'pending', 'delivered', 'dead')),
    tries integer not null default 0,
    -- After a failure past this time there is no further try. Null when it arrived at the first try.
    give_up_at timestamptz,
    next_try_at timestamptz,
    tried_at timestamptz,
    settled_at timestamptz,
    -- Request and answer of the newest try.
    last_try jsonb,
    -- With the status, so that deliveries of a status are counted without reading their rows.
    primary key (notification_id, event_number) include (status)
  )`,
  "create index deliveries_due on deliveries (notification_id, next_try_at) where status = 'pending'",
  `create index deliveries_open on deliveries (notification_id, ordering_key, event_number)
    where status in ('pending', 'waiting')`,
  // For the oldest one that waits. What arrives at the first try is never in this index.
  `create index deliveries_waiting on deliveries (notification_id, event_number)
    where status in ('pending', 'waiting')`,
  "create index deliveries_dead on deliveries (notification_id, event_number) where status = 'dead'",

  // The deliveries of each notification by status, as changes: their sum is exact at every commit, and no
  // writer waits for another one, as it would for a row with the sum. The service adds the rows up from time
  // to time.
  `create table delivery_counts (
    notification_id text not null,
    status text not null,
    count bigint not null
  )`,
  ...COUNTED.flatMap(({ event, changes, rows }) => [
    `create function count_deliveries_at_${event}() returns trigger language plpgsql as $$
      begin
        insert into delivery_counts (notification_id, status, count)
        select notification_id, status, sum(change) from (${changes}) changes
        group by notification_id, status having sum(change) <> 0;
        return null;
      end $$`,
    `create trigger count_deliveries_at_${event} after ${event} on deliveries referencing ${rows}
      for each statement execute function count_deliveries_at_${event}()`,
  ]),

  // A notification gets the events after its creation.
  `create function begin_deliveries() returns trigger language plpgsql as $$
    begin
      insert into delivery_cursors (notification_id, event_number) select new.id, last_value from event_numbers;
      return null;
    end $$`,
  'create trigger begin_deliveries after insert on notifications for each row execute function begin_deliveries()',
  // The process that delivers keeps copies of notifications and keys.
  `create function announce_notifications() returns trigger language plpgsql as $$
    begin
      perform pg_notify('deliveries_due', '');
      return null;
    end $$`,
  ...['notifications', 'notification_keys'].map(
    (table) => `create trigger announce_notifications after insert or update or delete on ${table}
      for each statement execute function announce_notifications()`,
  ),
]
