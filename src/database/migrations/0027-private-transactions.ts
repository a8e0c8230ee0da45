import { type Kysely, sql } from 'kysely'

/** Adds private endpoints and private transactions. `database/schema.ts` and `transaction-tables.ts` describe the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `alter table transactions
    add column private boolean, add column private_since_block bigint, add column made_public_at timestamptz`,
  // Not columns of network_urls: a process of an earlier release must never take these urls for those that it may read from.
  `create table network_private_urls (
    network_type text not null,
    network text not null,
    private_rpc_urls jsonb not null,
    instead_of text not null,
    primary key (network_type, network)
  )`,
  `create trigger announce_relayers after insert or update or delete on network_private_urls
    for each statement execute function announce_relayers()`,
]
