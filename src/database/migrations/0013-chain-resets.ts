import { type Kysely, sql } from 'kysely'

/** Adds the identity of chains, and marks what belongs to a chain that was reset. `database/schema.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table transactions add column reset_at timestamptz',
  'drop index transactions_nonce',
  // I2: a nonce of a source account belongs to one transaction. The nonces of a reset chain are free again.
  `create unique index transactions_nonce on transactions (relayer_id, network, source_account, nonce)
    where nonce is not null and reset_at is null`,
  'alter table attempts add column reset_at timestamptz',
  'alter table attempts drop constraint attempts_hash_key',
  // The same content with the same nonce has the same hash on the chain before its reset and after it.
  'create unique index attempts_hash on attempts (hash) where reset_at is null',
  `create table chain_identities (
    network_type text not null,
    network text not null,
    genesis text,
    resets integer not null default 0,
    primary key (network_type, network),
    constraint chain_identities_network_type check (network_type in ('evm', 'solana', 'stellar'))
  )`,
  `create trigger announce_relayers after insert or update of resets on chain_identities
    for each statement execute function announce_relayers()`,
]
