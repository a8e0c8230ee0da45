import { type Kysely, sql } from 'kysely'

/** Adds the audit log. `database/audit-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table audit_chains (
    chain text collate "C" primary key,
    number bigint not null,
    hash bytea not null
  )`,
  // Milliseconds, so that the hash covers every digit of the time.
  `create table audit_log (
    chain text collate "C" not null,
    number bigint not null,
    at timestamptz(3) not null,
    actor text not null,
    address text,
    request_id text,
    action text not null,
    target_type text not null,
    target_id text not null,
    before jsonb,
    after jsonb,
    hash bytea not null,
    primary key (chain, number)
  )`,
  'create index audit_log_by_time on audit_log (at)',
  // A row is written for each transaction, and searches are rare: a summary of 32 pages costs nothing at a write, where an entry in an index
  // for each filter would be as large as the row.
  `create index audit_log_by_filter on audit_log using brin (
    actor text_bloom_ops (n_distinct_per_range = 64),
    action text_bloom_ops (n_distinct_per_range = 32),
    target_type text_bloom_ops (n_distinct_per_range = 32),
    target_id text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.01),
    request_id text_bloom_ops (n_distinct_per_range = 1000, false_positive_rate = 0.01)
  ) with (pages_per_range = 32)`,
  // An index that is made on an empty table has a summary of the first pages, and would write it anew with each row.
  `select brin_desummarize_range('audit_log_by_filter', 0)`,
  `create function refuse_audit_change() returns trigger language plpgsql as $$
  begin
    raise exception 'audit_log is append-only';
  end $$`,
  `create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_audit_change()`,
]
