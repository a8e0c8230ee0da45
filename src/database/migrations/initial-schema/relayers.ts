/** The columns of a relayer whose change every process must hear of: all but those of its health. */
const ANNOUNCED = `name, network, network_type, address, signer_id, notification_id, paused, policies, custom_rpc_urls, channels, accounts,
  account_index, draining, removed_at`

/**
 * Relayers, what they use (signers, endpoints, contracts), and which process works for them. The tables of
 * notifications exist before these. Accounts of removed relayers keep their history, so relayers are never
 * deleted. Each further account of a relayer is a row of its own, whose id is that of the relayer, a slash
 * and the address, so that queue, nonces, health and money of every account are those of a relayer.
 */
export const RELAYERS: readonly string[] = [
  `create table relayers (
    id text primary key,
    -- The relayer that callers know: the id itself, but for further accounts.
    pool_id text not null generated always as (split_part(id, '/', 1)) stored,
    name text not null,
    -- The name of the network, which is unique among those of its type only.
    network text not null,
    network_type text not null check (network_type in ('evm', 'solana', 'stellar')),
    address text not null,
    -- Not a foreign key: a signer of the configuration file can be gone, and its relayers wait for it.
    signer_id text not null,
    notification_id text references notifications (id),
    -- Set by callers: nothing new is signed.
    paused boolean not null,
    -- Set by the health checks, with the reason and the number of checks that have failed in a row.
    system_disabled boolean not null default false,
    disabled_reason jsonb,
    failed_checks integer not null default 0,
    -- Amounts are decimal strings, because numbers of JSON lose digits.
    policies jsonb not null,
    -- Urls instead of those of the network; null for none. A JSON string when the urls are sealed.
    custom_rpc_urls jsonb,
    -- Stellar: [a number], or the ids of the signers of its channel accounts.
    channels jsonb,
    -- [{"signerId": …, "count": …}]; null for a relayer that never had further accounts.
    accounts jsonb,
    -- A further account of a signer with many, by its distance from the first one.
    account_index integer,
    -- It takes no new work, and is removed when nothing of it is open or watched.
    draining boolean not null default false,
    created_at timestamptz not null default now(),
    -- The configuration no longer names it, or a caller deleted it.
    removed_at timestamptz
  )`,
  'create index relayers_listed on relayers (created_at, id) where removed_at is null',
  'create index relayers_of_pool on relayers (pool_id)',
  'create index relayers_draining on relayers (pool_id) where draining and removed_at is null',
  // The relayers for which an alert can fire: most have neither a fault, nor a warning, nor a limit.
  `create index relayers_alerting on relayers (id)
    where removed_at is null and (system_disabled or policies ? 'warnBalance' or policies -> 'rules' ? 'limits')`,

  // The accounts whose nonces a relayer uses. Two relayers with one account would use each other's nonces
  // (I2).
  `create table operated_accounts (
    -- The identity of the chain, such as "chain id 1": two networks can be the same chain.
    chain text not null,
    address text not null,
    relayer_id text not null references relayers (id),
    primary key (chain, address)
  )`,
  'create index operated_accounts_of on operated_accounts (relayer_id)',

  `create table signers (
    id text primary key,
    type text not null,
    -- The sealed secret of a signer that a caller created; null for one of the file, whose secret is never stored.
    sealed bytea,
    -- The public part of its configuration.
    config jsonb,
    -- Hex digits by curve, as this service saw them first, where another service holds the key: it must not change unnoticed.
    public_keys jsonb,
    created_at timestamptz not null default now()
  )`,

  // The keys that key services created, or are to create, for signers. A row is stored before the first call
  // and stays when the signer is deleted: the key is still there.
  `create table key_creations (
    signer_id text primary key,
    -- As in signers.
    type text not null,
    curve text not null check (curve in ('secp256k1', 'ed25519')),
    -- The public part of the place of the key.
    config jsonb not null,
    -- The name or tag that was chosen for the key, by which it is found after a lost answer.
    key_name text not null unique,
    -- requested: perhaps there is no key yet · made: the key is there · usable: it signed, and the signer was stored.
    state text not null default 'requested' check (state in ('requested', 'made', 'usable')),
    -- The fields that name the key in the configuration of the signer.
    key_fields jsonb check ((key_fields is null) = (state = 'requested')),
    -- Until then a call that creates the key can be on its way, and no other one is made; null if there was none.
    call_until timestamptz,
    -- The last failure, as a sentence.
    problem text,
    -- The accounts of the key, by type of network.
    addresses jsonb check ((addresses is null) = (state <> 'usable')),
    created_at timestamptz not null
  )`,

  // The applied entries of the configuration file. A row stays when its record is deleted, so that the next
  // start does not create it again.
  `create table file_entries (
    kind text not null check (kind in ('relayer', 'notification', 'signer', 'plugin')),
    id text not null,
    -- Of the entry at its last application: an unchanged entry does not undo what callers changed since.
    fingerprint text not null,
    primary key (kind, id)
  )`,

  // RPC urls that callers set in place of those of the configuration.
  `create table network_urls (
    network_type text not null,
    network text not null,
    -- A JSON string when the urls are sealed.
    rpc_urls jsonb not null,
    -- The fingerprint of the urls of the configuration at that time. When those change, they are used again.
    instead_of text not null,
    primary key (network_type, network)
  )`,

  // The same for private endpoints. A separate table, so that no query for a network's endpoints can include
  // them.
  `create table network_private_urls (
    network_type text not null,
    network text not null,
    private_rpc_urls jsonb not null,
    instead_of text not null,
    primary key (network_type, network)
  )`,

  // Distinguishes a reset chain, such as that of a restarted local node, from the previous one.
  `create table chain_identities (
    network_type text not null check (network_type in ('evm', 'solana', 'stellar')),
    network text not null,
    -- The hash of the first block when the service saw the chain first; null until then, and on chains without such a hash.
    genesis text,
    -- The number of times that an operator has declared the chain as reset.
    resets integer not null default 0,
    primary key (network_type, network)
  )`,

  // The decimals that tokens say they have, read from the chain once. What they call themselves is not kept.
  `create table token_decimals (
    network_type text not null check (network_type in ('evm', 'solana', 'stellar')),
    network text not null,
    -- The address of the token as rules name it.
    token text not null,
    decimals smallint not null check (decimals between 0 and 255),
    primary key (network_type, network, token)
  )`,

  // The interfaces that callers registered for contracts: on EVM, ABIs.
  `create table contract_interfaces (
    relayer_id text not null references relayers (id),
    -- In the canonical spelling of the chain.
    address text not null,
    name text,
    -- As it is shown.
    document jsonb not null,
    -- By the key that a call begins with (on EVM the selector), so that one function is read without the others.
    functions jsonb not null,
    -- An API key: what a sender wrote does not explain a transaction to its approver.
    registered_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (relayer_id, address)
  )`,

  // The process that works for an account. A row is never deleted, so that its fence never restarts.
  `create table leases (
    name text primary key,
    owner text not null,
    expires_at timestamptz not null,
    -- Grows with each new owner. A write with an older one is refused.
    fence bigint not null
  )`,

  // The processes that share the database.
  `create table processes (
    -- The owner in \`leases\`. A lease whose \`expires_at\` is infinity lasts as long as the process of its owner is alive.
    id text primary key,
    started_at timestamptz not null default now(),
    -- The process is alive until then. It moves the time while it runs.
    alive_until timestamptz not null,
    -- The relayers that it cannot act for, so that the others leave none of them to it.
    cannot_act text[] not null default '{}'
  )`,

  // Triggers notify the processes that hold copies, so that no writer can forget it. They fire at the commit,
  // once for any number of rows. This one excludes health: with thousands of relayers, each failed check
  // would make every process read all of them again.
  `create function announce_relayers() returns trigger language plpgsql as $$
    begin
      perform pg_notify('relayers_changed', '');
      return null;
    end $$`,
  `create trigger announce_relayers after insert or update of ${ANNOUNCED}
    on relayers for each statement execute function announce_relayers()`,
  ...['network_urls', 'network_private_urls'].map(
    (table) => `create trigger announce_relayers after insert or update or delete on ${table}
      for each statement execute function announce_relayers()`,
  ),
  `create trigger announce_relayers after insert or update of resets on chain_identities
    for each statement execute function announce_relayers()`,
  // The process that answers requests keeps copies of rows, health included. All columns but failed_checks,
  // of which there are no copies.
  `create function announce_relayer_rows() returns trigger language plpgsql as $$
    begin
      perform pg_notify('relayer_rows_changed', '');
      return null;
    end $$`,
  `create trigger announce_relayer_rows after delete or update of id, system_disabled, disabled_reason, ${ANNOUNCED}
    on relayers for each statement execute function announce_relayer_rows()`,
]
