import { type Kysely, sql } from 'kysely'

/** Adds the mark of pending transactions that wait until a block could include them at the price that their caller named. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  "alter table transactions add column awaits_price boolean check (awaits_price is null or (awaits_price and status = 'pending'))",
  'create index transactions_awaiting_price on transactions (relayer_id, position) where awaits_price',
]
