import { type Kysely, sql } from 'kysely'

/**
 * Adds incidents of transactions: an inclusion that no endpoint can prove, a blocked queue, and a confirmed block that is gone.
 * `database/schema.ts` describes the columns.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `alter table transactions
    add column undecided_since timestamptz,
    add column stuck_since timestamptz,
    add column reorganized_at timestamptz`,
  // The command line lists these rows. The index is almost always empty.
  'create index transactions_undecided on transactions (undecided_since) where undecided_since is not null',
  // This index is almost always empty, too.
  'create index transactions_reorganized on transactions (relayer_id) where reorganized_at is not null',
  // The service checks the blocks of all recently final transactions again, in any final status.
  'drop index transactions_confirmed',
  'create index transactions_ended on transactions (relayer_id, confirmed_at) where confirmed_at is not null',
  // This table is an audit trail: rows are never changed.
  `create table operator_decisions (
    id bigint generated always as identity primary key,
    transaction_id text not null references transactions (id),
    decision text not null check (decision in ('included', 'not_included')),
    attempt integer,
    undecided_since timestamptz not null,
    reason text not null,
    decided_by text not null,
    decided_at timestamptz not null default now(),
    check ((decision = 'included') = (attempt is not null))
  )`,
  'create index operator_decisions_of on operator_decisions (transaction_id, id)',
]
