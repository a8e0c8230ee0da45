/** Transactions that are sent again and again, and what became of each time. */
export const SCHEDULES: readonly string[] = [
  `create table schedules (
    id text primary key,
    -- As callers know it, which may choose among its accounts at each run.
    relayer_id text not null references relayers (id),
    name text,
    cron text not null,
    -- A name of the IANA database.
    timezone text not null,
    -- The content of each run, without times.
    request jsonb not null,
    -- The same as its caller sees it.
    body jsonb not null,
    -- The time from a run until its transaction expires; null for none.
    valid_for_seconds integer check (valid_for_seconds > 0),
    missed text not null check (missed in ('skip', 'once', 'all')),
    overlap text not null check (overlap in ('allow', 'skip')),
    approval text not null check (approval in ('each_run', 'once')),
    -- No time after this one counts.
    ends_at timestamptz,
    -- The schedule is over after this many transactions.
    max_runs integer check (max_runs > 0),
    state text not null check (state in ('active', 'paused', 'awaiting_approval', 'completed')),
    state_reason text,
    -- In whose name it sends: an API key, or root.
    api_key_id text not null,
    -- The user of the caller for whom it sends; null if the caller named none.
    user_id text,
    -- What has to be approved once for all runs, or was; null if nothing has to.
    reasons jsonb,
    -- Who has approved these reasons; null before.
    approved_by text,
    -- Every change of a caller increments it.
    version integer not null default 1,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- The next time that is not decided; null while none will be.
    next_at timestamptz
      constraint schedules_next_at_check check ((next_at is not null) = (state = 'active')),
    -- The newest time that was decided. No time up to it is decided again, whatever the clocks say.
    last_at timestamptz,
    -- The number of transactions that it has sent.
    runs integer not null default 0,
    last_transaction_id text,
    -- The most that a run takes from the account, in the smallest unit, at the prices when one was last priced.
    cost numeric(80, 0)
  )`,
  'create index schedules_listed on schedules (relayer_id, created_at, id)',
  'create index schedules_of_key on schedules (api_key_id)',
  'create index schedules_due on schedules (next_at) where next_at is not null',

  // One row for each time that was decided: it is written with the transaction, and with the next time.
  `create table schedule_runs (
    schedule_id text not null references schedules (id) on delete cascade,
    scheduled_at timestamptz not null,
    outcome text not null check (outcome in ('sent', 'refused', 'skipped')),
    decided_at timestamptz not null,
    transaction_id text
      constraint schedule_runs_transaction_check check ((transaction_id is not null) = (outcome = 'sent')),
    -- Why it was refused, as a stable word, and why nothing was sent, as a sentence.
    code text,
    reason text,
    -- The times that one row stands for: more than one if many were missed.
    times integer not null default 1 check (times > 0),
    primary key (schedule_id, scheduled_at)
  )`,

  // Wakes the processes, which sleep until the next time.
  `create function announce_schedules() returns trigger language plpgsql as $$
    begin
      perform pg_notify('schedules_changed', '');
      return null;
    end $$`,
  `create trigger announce_schedules after insert or update of next_at on schedules
    for each statement execute function announce_schedules()`,
]
