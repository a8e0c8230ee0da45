import { type Kysely, sql } from 'kysely'

/**
 * Removes indexes that cost an entry at each write and answer nothing that another one cannot: the number of an event is its key, and old
 * events are found from the beginning of the log. The status of a transaction leaves its indexes for `phase`, which the broadcast does not
 * change, so that the database writes the new version of the row beside the old one and no index entry.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table deliveries drop column event_id',
  'drop index events_by_age, events_number, events_of_transaction',
  // This drops the former primary key, too.
  'alter table events drop column id',
  'alter table events add constraint events_pkey primary key (number)',
  'create index events_of_transaction on events (transaction_id, number)',
  'drop index transactions_open, transactions_final',
  `alter table transactions add column phase text not null
    generated always as (case when status in ('sent', 'submitted') then 'in_flight' else status end) stored`,
  // Queries of workers use this index. It stays small with a long history.
  `create index transactions_open on transactions (relayer_id, phase, position)
    where phase in ('pending', 'in_flight', 'mined')`,
  `create index transactions_final on transactions (relayer_id, phase, position)
    where phase not in ('pending', 'in_flight', 'mined')`,
]
