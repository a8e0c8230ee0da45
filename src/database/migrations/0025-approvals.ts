import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  // Null means no: a field without a value takes no room in the row, nor in its events.
  "alter table transactions add column awaits_approval boolean check (awaits_approval is null or (awaits_approval and status = 'pending'))",
  'create index transactions_awaiting on transactions (relayer_id) where awaits_approval',
  `create table approvals (
    transaction_id text primary key references transactions (id) on delete cascade,
    relayer_id text not null,
    requested_by text not null,
    reasons jsonb not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    decision text check (decision in ('approved', 'refused', 'expired')),
    decided_by text,
    decided_at timestamptz,
    decision_reason text
  )`,
  'create index approvals_by_time on approvals (created_at, transaction_id)',
  `create table known_receivers (
    subject text not null,
    network text not null,
    receiver text not null,
    primary key (subject, network, receiver)
  )`,
]

/** Adds approvals. `database/approval-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
