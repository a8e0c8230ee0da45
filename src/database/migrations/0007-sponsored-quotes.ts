import { type Kysely, sql } from 'kysely'

/** Quotes of sponsored transactions: what a user must pay in a token, for which content, and until when. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS: readonly string[] = [
  `create table sponsored_quotes (
    id text primary key,
    relayer_id text not null references relayers (id),
    -- The SHA-256 of the requested content and token.
    content text not null,
    -- Identifies the transaction that was built; null until then.
    hash text,
    token text not null,
    amount numeric(78, 0) not null,
    -- The network fee that is paid for.
    fee numeric(78, 0) not null,
    payer text not null,
    receiver text,
    valid_until timestamptz not null,
    -- The transaction that was accepted with it; null until then. A quote is used once.
    transaction_id text,
    created_at timestamptz not null
  )`,
  'create unique index sponsored_quotes_hash on sponsored_quotes (relayer_id, hash) where hash is not null',
  'create index sponsored_quotes_content on sponsored_quotes (relayer_id, content)',
  'create index sponsored_quotes_payer on sponsored_quotes (relayer_id, payer, created_at) where transaction_id is not null',
  'create index sponsored_quotes_end on sponsored_quotes (valid_until)',
]
