import { type Kysely, sql } from 'kysely'

/**
 * Saves versions of rows and entries of indexes. The acceptance by a node and the inclusion in a block are stored in the row of the
 * transaction, which is written then anyway, so that the attempt is written once. The phase no longer changes at the inclusion, so that
 * only the signature and the final status write index entries. Events leave out the content that their transaction still has.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'drop index transactions_open, transactions_final',
  'alter table transactions drop column phase',
  `alter table transactions
    add column phase text not null
      generated always as (case when status in ('sent', 'submitted', 'mined') then 'signed' else status end) stored,
    add column accepted_attempt integer,
    add column included_outcome text check (included_outcome in ('mined', 'reverted')),
    add column included_result jsonb`,
  // Queries of workers use this index. It stays small with a long history.
  `create index transactions_open on transactions (relayer_id, phase, position) where phase in ('pending', 'signed')`,
  "create index transactions_final on transactions (relayer_id, phase, position) where phase not in ('pending', 'signed')",
  // Rows that are written once need no room for further versions.
  'alter table attempts reset (fillfactor)',
]
