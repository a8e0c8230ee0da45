import { type Kysely, sql } from 'kysely'

/**
 * Several lines of nonces for one relayer, transactions without nonces, and what a chain tells of an inclusion. Comments on
 * columns stand in `database/schema.ts`.
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
  // Nulls are all different to an index: a nonce without a line would escape the next one.
  'alter table transactions add constraint transactions_line check (nonce is null or line is not null)',
  'drop index transactions_nonce',
  // I2: a nonce of a line belongs to one transaction.
  `create unique index transactions_nonce on transactions (relayer_id, network, line, nonce)
    where nonce is not null`,

  'alter table attempts add column line text',
  `update attempts set line = transactions.from_address from transactions
    where transactions.id = attempts.transaction_id`,
  'alter table attempts alter column line set not null',
  'alter table attempts alter column nonce drop not null',
  'alter table attempts add column result jsonb',
]
