/**
 * Transactions from acceptance to a final status, the attempts that were signed for them, and the nonces that
 * they use.
 */
export const TRANSACTIONS: readonly string[] = [
  // The nonce counters. All rows of a relayer are locked while nonces are assigned.
  `create table accounts (
    relayer_id text not null references relayers (id),
    -- Its own account, or a channel account.
    address text not null,
    -- The next nonce to assign; null until it was read from the chain.
    next_nonce bigint,
    -- The chain may have used the nonces below this one: when the account was first seen they were used, an operator accepted them, or the
    -- service signed transactions with them that their callers broadcast. A database that was restored from a backup explains less than the
    -- chain shows. Null before the account was first seen.
    known_nonce bigint,
    -- The same for accounts without nonces: the last transaction of the account that the records explain, and its slot. Null before the account
    -- was first seen.
    known_slot bigint,
    known_hash text,
    primary key (relayer_id, address)
  )`,

  // The columns are in the order of their last change: the log gets a new version of a row without the
  // leading bytes that it shares with the version before, so the content of a request is logged once and not
  // at every step. A step gives all rows of a page a new version before the old ones can be removed, so half
  // of each page stays free for them; less space costs index entries in the log.
  `create table transactions (
    -- The order of acceptance.
    position bigint generated always as identity,
    created_at timestamptz not null default now(),
    id text primary key,
    relayer_id text not null references relayers (id),
    -- The network and the account of the sender. A relayer may get another signer later, but nonces stay with the account.
    network text not null,
    from_address text not null,
    -- The id of an API key, "service" for a top-up; null for other transactions of the service itself.
    requested_by text,
    -- The relayer that it fills; null for everything but top-ups.
    top_up_of text,
    -- The traceparent of the request; null where traces were off.
    trace_parent text,
    -- Open transactions of the same lane of a relayer are of one account; null for none.
    lane text,
    -- The caller's own name for the transaction; null for none.
    reference text,
    -- The caller's own text about the transaction; null for none.
    description text,
    -- The schedule whose run it is; null for none. A deleted schedule keeps its transactions.
    schedule_id text,
    -- The user of the caller for whom it was requested; null if the caller named none.
    user_id text,
    -- The other transaction that the caller named as one to wait for; null for none.
    after_transaction jsonb,

    -- Only a replacement changes these.
    request jsonb not null,
    -- Nothing is signed before this time.
    valid_from timestamptz,
    -- Gas estimated at acceptance, which saves a second simulation.
    estimated_gas bigint,
    purpose text not null
      check (purpose in ('request', 'successor', 'cancel', 'expire', 'abandon', 'gap_filler', 'setup')),
    -- It takes from the budget of an API key or a relayer.
    budgeted boolean not null default false,
    -- True when its bytes go to the private endpoints of the network only, until made_public_at; null otherwise.
    private boolean,

    -- The signature. The account whose nonce it uses: the relayer's own, a channel account, or that of a third party.
    source_account text,
    nonce bigint,
    current_attempt integer,

    -- The broadcast. When a node first accepted one of its attempts.
    sent_at timestamptz,
    -- The newest block when its bytes were first sent to private endpoints.
    private_since_block bigint,
    -- From this time its bytes go to the ordinary endpoints as well.
    made_public_at timestamptz,

    -- The inclusion. The earliest time at which a worker processes the row again.
    next_run_at timestamptz not null default now(),
    -- The most that it can still take from the account, in the smallest unit; 0 after the chain has decided.
    cost numeric(80, 0) not null default 0,
    block_number bigint,
    block_hash text,
    -- The time that the block states; null as long as no node has told it.
    block_time timestamptz,

    -- Every step. When its block was final.
    confirmed_at timestamptz,
    -- Every change increments it. A writer that read an older version changes nothing.
    version integer not null default 1,
    status text not null
      check (status in ('pending', 'sent', 'submitted', 'mined', 'confirmed', 'failed', 'canceled', 'expired')),
    -- Indexes have it instead of the status, so that neither the broadcast nor the inclusion writes an index entry.
    phase text not null
      generated always as (case when status in ('sent', 'submitted', 'mined') then 'signed' else status end) stored,
    status_reason text,
    -- These two are true or null: a field without a value takes no room in the row, nor in its events.
    -- It waits for an approval.
    awaits_approval boolean
      constraint transactions_awaits_approval_check check (awaits_approval is null or (awaits_approval and status = 'pending')),
    -- No block could include it at the price that its caller named: nothing is signed, and others overtake it.
    awaits_price boolean
      constraint transactions_awaits_price_check check (awaits_price is null or (awaits_price and status = 'pending')),
    -- The transaction that it still waits for, which cannot be deleted meanwhile: nothing is signed, and others overtake it.
    awaits_transaction text references transactions (id)
      constraint transactions_awaits_transaction_check check (awaits_transaction is null or status = 'pending'),
    -- When that wait was over.
    released_at timestamptz,
    -- Incidents. No endpoint can prove since then whether it was included.
    undecided_since timestamptz,
    -- It blocks its account.
    stuck_since timestamptz,
    -- The block of the confirmed transaction was found to be missing from the chain.
    reorganized_at timestamptz,
    -- The hash that an operator stated of what was included, where no attempt has it.
    stated_hash text,
    -- The chain that it was on was reset; null on the current chain.
    reset_at timestamptz,

    -- An index takes nulls for different values, so a nonce without an account would escape transactions_nonce.
    constraint transactions_source_account_check check (nonce is null or source_account is not null)
  ) with (fillfactor = 50)`,
  'create unique index transactions_listed on transactions (relayer_id, position)',
  // I2: a nonce of an account belongs to one transaction. The nonces of a reset chain are free again.
  `create unique index transactions_nonce on transactions (relayer_id, network, source_account, nonce)
    where nonce is not null and reset_at is null`,
  // Workers read open transactions. This index stays small with a long history.
  "create index transactions_open on transactions (relayer_id, phase, position) where phase in ('pending', 'signed')",
  "create index transactions_final on transactions (relayer_id, phase, position) where phase not in ('pending', 'signed')",
  // Pending transactions that come before all others of their account: a step finds these few even if many
  // wait.
  "create index transactions_resumed on transactions (relayer_id, nonce) where phase = 'pending' and nonce is not null",
  // The newest setup transaction is read in any phase.
  "create index transactions_setup on transactions (relayer_id, position) where purpose = 'setup'",
  // Pending transactions by sender, who take turns where the policy fair_share says so.
  `create index transactions_by_sender on transactions (relayer_id, coalesce(requested_by, ''), position)
    where phase = 'pending' and nonce is null`,
  "create index transactions_lane on transactions (lane, position) where lane is not null and phase in ('pending', 'signed')",
  'create index transactions_awaiting on transactions (relayer_id) where awaits_approval',
  'create index transactions_awaiting_price on transactions (relayer_id, position) where awaits_price',
  'create index transactions_awaiting_transaction on transactions (awaits_transaction) where awaits_transaction is not null',
  `create index transactions_awaiting_end on transactions ((after_transaction->>'expiresAt'))
    where awaits_transaction is not null`,
  'create index transactions_top_ups on transactions (top_up_of, position) where top_up_of is not null',
  // The blocks of recently final transactions are checked again.
  'create index transactions_ended on transactions (relayer_id, confirmed_at) where confirmed_at is not null',
  // For reports, which are rare: a summary of 32 pages costs next to nothing at a write.
  'create index transactions_by_confirmation on transactions using brin (confirmed_at) with (pages_per_range = 32)',
  // Incidents: almost always empty.
  'create index transactions_undecided on transactions (undecided_since) where undecided_since is not null',
  'create index transactions_stuck on transactions (stuck_since) where stuck_since is not null',
  'create index transactions_reorganized on transactions (relayer_id) where reorganized_at is not null',
  'create index transactions_stated_hash on transactions (stated_hash) where stated_hash is not null',

  // The terms by which transactions are found, besides their columns. \`transactions\` would get an entry in each
  // further index at every step of a transaction; these rows never change. A search reads the first index
  // alone, in the order of acceptance; the second one finds the rows of a transaction that is deleted.
  `create table transaction_terms (
    relayer_id text not null,
    -- The kind and the value, such as "to:0x…".
    term text not null,
    -- That of the transaction.
    position bigint not null,
    -- Distinguishes the transfers of a transaction with the same term.
    number smallint not null default 0,
    -- Those of a transfer; null for other terms.
    asset text,
    amount numeric(80, 0),
    primary key (relayer_id, term, position, number)
  )`,
  'create index transaction_terms_position on transaction_terms (position)',

  // Everything that was ever signed, stored before its bytes leave the process (I3, I4). An attempt is
  // written again when a node accepts it and when a block includes it, often together with all rows of its
  // page. No index has what changes, so with half of the page free both versions stay on it and no index is
  // written (HOT); with a full one nearly every version goes elsewhere and costs an entry in each index. The
  // columns stand in the order of their last change, as in `transactions`.
  `create table attempts (
    transaction_id text not null references transactions (id),
    -- From 1, by transaction.
    number integer not null,
    kind text not null
      check (kind in ('send', 'replace', 'cancel', 'expire', 'abandon', 'speed_up', 'gap_filler', 're_sign', 'setup')),
    source_account text not null,
    nonce bigint,
    hash text not null,
    -- Stellar: the hash of the transaction inside a fee bump, under which a ledger can contain it as well (CAP-15).
    inner_hash text,
    -- The signed bytes, and the content that they say.
    raw bytea not null,
    draft jsonb not null,
    -- r, s, v; and sig where it is not these three joined.
    signature jsonb not null,
    signed_at timestamptz not null default now(),
    outcome text not null
      check (outcome in ('signed', 'broadcast', 'refused', 'mined', 'reverted', 'superseded', 'expired')),
    -- What a node said last, when it refused.
    error text,
    -- How often in a row nodes refused it in words that the service does not know, or in comparison with such content.
    refusals integer not null default 0,
    broadcast_at timestamptz,
    -- What the chain said about the inclusion: fee, gas used and price on EVM, results on Stellar, compute units on Solana. Null while no block of
    -- the chain includes it.
    result jsonb,
    -- That of its transaction.
    reset_at timestamptz,
    primary key (transaction_id, number)
  ) with (fillfactor = 50)`,
  // The same content with the same nonce has the same hash on the chain before its reset and after it.
  'create unique index attempts_hash on attempts (hash) where reset_at is null',
  // A search for a hash also finds what was signed for the chain before its reset.
  'create index attempts_before_reset on attempts (hash) where reset_at is not null',

  // Written with the transaction, and kept as long.
  `create table idempotency_keys (
    relayer_id text not null references relayers (id),
    key text not null,
    -- The API key that chose it; empty if it is the same name for all.
    api_key_id text not null default '',
    -- The SHA-256 of the body in canonical form, in hex.
    fingerprint text not null,
    transaction_id text not null references transactions (id) on delete cascade,
    created_at timestamptz not null default now(),
    primary key (relayer_id, key, api_key_id)
  )`,
  // For the deletion of transactions.
  'create index idempotency_keys_of_transaction on idempotency_keys (transaction_id)',

  // Final transactions by status, written by the statement that makes them final: to count them for each list
  // takes longer with a longer history.
  `create table finished_counts (
    relayer_id text not null references relayers (id),
    status text not null check (status in ('confirmed', 'failed', 'canceled', 'expired')),
    count bigint not null,
    primary key (relayer_id, status)
  )`,

  // The decisions of operators about transactions whose inclusion no endpoint can prove, and about those of a
  // restored database that were signed after the backup. Rows are never changed.
  `create table operator_decisions (
    id bigint generated always as identity primary key,
    transaction_id text not null references transactions (id),
    decision text not null check (decision in ('included', 'not_included')),
    -- The attempt that was included; null if none was, or none of those that the database has.
    attempt integer,
    -- The hash of what was included, where no attempt has it and the operator knows it.
    hash text,
    -- Names the incident: the decision is not valid for a later one of the same transaction. Null for a pending transaction, which has none.
    undecided_since timestamptz,
    -- The words and the user name of the operator.
    reason text not null,
    decided_by text not null,
    decided_at timestamptz not null default now(),
    constraint operator_decisions_attempt_check check (decision = 'included' or (attempt is null and hash is null))
  )`,
  'create index operator_decisions_of on operator_decisions (transaction_id, id)',

  // The last decision about a relayer that another one fills. No row before the first.
  `create table top_ups (
    relayer_id text primary key references relayers (id),
    -- enough, pending, limit_reached, waiting or refused.
    state text not null,
    -- Of a refusal.
    code text,
    -- The payment that is not final yet, or the last one that did not succeed.
    transaction_id text,
    -- Refusals in a row.
    failures integer not null default 0,
    -- Nothing is tried before this time.
    retry_at timestamptz,
    changed_at timestamptz not null default now()
  )`,
]
