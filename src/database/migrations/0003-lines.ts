import { type Kysely, sql } from 'kysely'

/**
 * Adds several source accounts for one relayer, transactions without nonces, and the result of an inclusion. `database/schema.ts` describes
 * the columns.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table relayers add column channels jsonb',

  'alter table accounts add column address text',
  'update accounts set address = relayers.address from relayers where relayers.id = accounts.relayer_id',
  'alter table accounts drop constraint accounts_pkey',
  'alter table accounts add primary key (relayer_id, address)',

  'alter table transactions add column line text',
  'update transactions set line = from_address where nonce is not null',
  // An index treats nulls as different, so a nonce without a source account would not be checked by the next index.
  'alter table transactions add constraint transactions_line check (nonce is null or line is not null)',
  'drop index transactions_nonce',
  // I2: a nonce of a source account belongs to one transaction.
  `create unique index transactions_nonce on transactions (relayer_id, network, line, nonce)
    where nonce is not null`,

  'alter table attempts add column line text',
  `update attempts set line = transactions.from_address from transactions
    where transactions.id = attempts.transaction_id`,
  'alter table attempts alter column line set not null',
  'alter table attempts alter column nonce drop not null',
  'alter table attempts add column result jsonb',
]
