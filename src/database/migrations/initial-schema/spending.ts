/**
 * Budgets of API keys and relayers, what they have spent, transactions that wait for an approval, and quotes
 * of users. Amounts are in the smallest unit.
 */
export const SPENDING: readonly string[] = [
  // API keys and relayers with limits, key:<id> and relayer:<id>. A request that a limit applies to locks the
  // rows of its spenders until the commit, so that no two requests spend the same budget.
  'create table spenders (subject text primary key)',

  // The amount that one version of a transaction takes from the budget of one spender, in one asset. The free
  // space in each page is for one more version of its rows.
  `create table spendings (
    transaction_id text not null,
    subject text not null,
    -- By type and name.
    network text not null,
    asset text not null,
    -- Counts from 1. Each version can be executed besides the ones before it, as far as a single node knows.
    version integer not null default 1,
    -- What is signed next is another version, which is charged before it is signed.
    closed boolean not null default false,
    -- The time at which it counts: that of the request, or of the latest one that raised it.
    at timestamptz not null,
    -- The most that it can take, whichever of its attempts is included.
    most_value numeric not null,
    most_fees numeric not null,
    -- What counts now: the most while it is open, and what it took once the chain has decided.
    value numeric not null,
    fees numeric not null,
    count integer not null,
    -- The chain has decided, or it was only signed.
    settled boolean not null default false,
    primary key (transaction_id, subject, asset, version)
  ) with (fillfactor = 80)`,
  'create index spendings_unsettled on spendings (transaction_id) where not settled',
  'create index spendings_by_time on spendings using brin (at)',

  // The sums of what counts, by steps of time. Nothing that changes at a request is in an index, and pages
  // have room for the next versions.
  `create table spent (
    subject text not null,
    network text not null,
    asset text not null,
    period text not null check (period in ('hour', 'day', 'month')),
    -- The start of the step.
    step timestamptz not null,
    value numeric not null,
    fees numeric not null,
    count integer not null,
    primary key (subject, network, asset, period, step)
  ) with (fillfactor = 50)`,

  // Transactions that wait or have waited for an approval. A row changes once, when it is decided.
  `create table approvals (
    transaction_id text primary key references transactions (id) on delete cascade,
    relayer_id text not null,
    -- The API key that sent it, which cannot approve it.
    requested_by text not null,
    -- The rules that ask for it.
    reasons jsonb not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    -- Null until then, and when the transaction ended before.
    decision text check (decision in ('approved', 'refused', 'expired')),
    decided_by text,
    decided_at timestamptz,
    decision_reason text
  )`,
  'create index approvals_by_time on approvals (created_at, transaction_id)',
  'create index approvals_by_decision on approvals (decision, created_at, transaction_id)',

  // Receivers that approved transactions have paid, so that a rule about new receivers applies once.
  `create table known_receivers (
    -- key:<id> or relayer:<id>.
    subject text not null,
    -- By type and name.
    network text not null,
    receiver text not null,
    primary key (subject, network, receiver)
  )`,

  // Quotes of sponsored transactions: what a user must pay in a token, for which content, and until when.
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
