/** API keys, people and their sessions, rate limits, and the audit log. */
export const ACCESS: readonly string[] = [
  // Deleted ones as well: records name who did something by their id.
  `create table api_keys (
    id text primary key,
    name text not null,
    scopes jsonb not null,
    -- Patterns of ids, and type:name; null for all.
    relayers jsonb,
    networks jsonb,
    -- The rules for spending; null for none.
    rules jsonb,
    disabled boolean not null default false,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    -- The id of an API key, or root.
    created_by text not null,
    deleted_at timestamptz
  )`,

  // At most two for each key.
  `create table api_key_secrets (
    -- The SHA-256 of the secret, which itself is never stored.
    hash bytea primary key,
    api_key_id text not null references api_keys (id),
    -- Its first characters, for people.
    prefix text not null,
    created_at timestamptz not null default now(),
    -- The end of the overlap after a rotation; null for the newest secret.
    expires_at timestamptz
  )`,
  'create index api_key_secrets_of_key on api_key_secrets (api_key_id)',

  // Apart from the key, so that a use is no change of it. Some time later than the use.
  `create table api_key_uses (
    api_key_id text primary key references api_keys (id),
    last_used_at timestamptz not null
  )`,

  // One row. Each change of keys or secrets locks it until its commit, so a reader that has seen a version
  // has seen every change before it.
  'create table api_key_changes (id integer primary key default 1 check (id = 1), version bigint not null)',
  'insert into api_key_changes (version) values (0)',
  `create function announce_api_keys() returns trigger language plpgsql as $$
    begin
      update api_key_changes set version = version + 1;
      perform pg_notify('api_keys_changed', '');
      return null;
    end $$`,
  ...['api_keys', 'api_key_secrets'].map(
    (table) => `create trigger announce_api_keys after insert or update or delete on ${table}
      for each statement execute function announce_api_keys()`,
  ),

  // Those who have signed in, also after their last session: records name them by their id.
  `create table people (
    -- Derives from issuer and subject.
    id text primary key,
    issuer text not null,
    subject text not null,
    -- As the provider named them last.
    name text,
    email text
  )`,

  // Those that have not ended.
  `create table sessions (
    id text primary key,
    -- The SHA-256 of the secret in the cookie, which itself is never stored.
    hash bytea not null unique,
    person_id text not null references people (id),
    roles jsonb not null,
    -- Where the person signed in.
    address text,
    user_agent text,
    created_at timestamptz not null,
    -- Up to a minute late.
    last_used_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  'create index sessions_of_person on sessions (person_id)',

  // As for the keys. A use is no change, and neither is a new name of a person.
  'create table session_changes (id integer primary key default 1 check (id = 1), version bigint not null)',
  'insert into session_changes (version) values (0)',
  `create function announce_sessions() returns trigger language plpgsql as $$
    begin
      update session_changes set version = version + 1;
      perform pg_notify('sessions_changed', '');
      return null;
    end $$`,
  `create trigger announce_sessions after insert or delete on sessions
    for each statement execute function announce_sessions()`,

  // Changes that wait or have waited for a second person.
  `create table proposals (
    id text primary key,
    operation text not null,
    -- The record, such as api_key:payments; null for a new one without an id.
    target text,
    -- The input of the operation as JSON, sealed; empty after the decision.
    proposed_input text not null,
    -- The input without secrets.
    shown jsonb not null,
    -- The id of a person.
    proposed_by text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    -- Null while it waits.
    decision text,
    decided_by text,
    decided_at timestamptz,
    decision_reason text
  )`,
  'create unique index proposals_waiting on proposals (target) where decision is null',
  'create index proposals_by_time on proposals (created_at)',

  // The buckets that processes count together. A key without a row has a full one. Logged, although its loss
  // would do no harm: after a power cut, the embedded engine does not start with an unlogged table.
  `create table rate_limits (
    key text primary key,
    -- The requests that could be sent at once at filled_at; negative after processes have allowed too many together.
    tokens double precision not null,
    -- By the clock of the database.
    filled_at timestamptz not null
  )`,

  // The newest entry of each chain of the audit log. A writer keeps the lock of the row until its commit.
  `create table audit_chains (
    -- management, or relayer:<id> for what one relayer sends and signs.
    chain text collate "C" primary key,
    -- 0 before the first entry.
    number bigint not null,
    hash bytea not null
  )`,

  `create table audit_log (
    chain text collate "C" not null,
    -- From 1 without a gap.
    number bigint not null,
    -- In milliseconds, so that the hash covers every digit.
    at timestamptz(3) not null,
    -- The id of an API key or person; configuration for the file, operator for the command line.
    actor text not null,
    -- The person, as the provider named them at that time.
    person jsonb,
    -- Of the caller.
    address text,
    request_id text,
    action text not null,
    target_type text not null,
    target_id text not null,
    -- The record without secrets.
    before jsonb,
    after jsonb,
    -- The SHA-256 of the previous hash and of this entry.
    hash bytea not null,
    primary key (chain, number)
  )`,
  'create index audit_log_by_time on audit_log (at)',
  // Transactions that a relayer only signs are in no other table: a transaction found on a chain is looked up
  // here by its bytes.
  "create index audit_log_signed_transactions on audit_log ((after->>'sha256')) where action = 'signTransaction'",
  // A row is written for each transaction, and searches are rare: a summary of 32 pages costs nothing at a
  // write, where an entry in an index for each filter would be as large as the row.
  `create index audit_log_by_filter on audit_log using brin (
    actor text_bloom_ops (n_distinct_per_range = 64),
    action text_bloom_ops (n_distinct_per_range = 32),
    target_type text_bloom_ops (n_distinct_per_range = 32),
    target_id text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.01),
    request_id text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.01)
  ) with (pages_per_range = 32)`,
  // An index that is made on an empty table has a summary of the first pages, and would write it again with
  // each row.
  "select brin_desummarize_range('audit_log_by_filter', 0)",
  `create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      raise exception 'audit_log is append-only';
    end $$`,
  `create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_audit_change()`,
]
