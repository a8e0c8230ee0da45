import { type Kysely, sql } from 'kysely'

/**
 * Operators decide about transactions of a restored database that were signed after the backup: the database
 * has no attempt of what was included, and perhaps its hash.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS: readonly string[] = [
  // The hash that an operator stated of what was included, where no attempt has it.
  'alter table transactions add column stated_hash text',
  'create index transactions_stated_hash on transactions (stated_hash) where stated_hash is not null',
  'alter table operator_decisions add column hash text',
  // Null for a pending transaction, which has no incident.
  'alter table operator_decisions alter column undecided_since drop not null',
  'alter table operator_decisions drop constraint operator_decisions_attempt_check',
  `alter table operator_decisions add constraint operator_decisions_attempt_check
    check (decision = 'included' or (attempt is null and hash is null))`,
]
