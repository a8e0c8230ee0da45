import { type Kysely, sql } from 'kysely'

/** Adds the interfaces of contracts. `database/interface-tables.ts` describes the columns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table contract_interfaces (
        relayer_id text not null references relayers (id),
        address text not null,
        name text,
        document jsonb not null,
        functions jsonb not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        primary key (relayer_id, address)
      )`,
    )
    .execute(db)
}
