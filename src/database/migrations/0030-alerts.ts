import { type Kysely, sql } from 'kysely'

/**
 * Adds the alerts that fire, and indexes of what can make one fire: relayers with a warning, a limit or a fault, and stuck transactions.
 * `database/event-tables.ts` describes the columns.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table alerts (
    kind text not null,
    subject text not null,
    since timestamptz not null,
    relayer_id text,
    notifications jsonb not null,
    detail jsonb not null,
    primary key (kind, subject)
  )`,
  `create index relayers_alerting on relayers (id)
    where removed_at is null and (system_disabled or policies ? 'warnBalance' or policies -> 'rules' ? 'limits')`,
  // It is almost always empty.
  'create index transactions_stuck on transactions (stuck_since) where stuck_since is not null',
]
