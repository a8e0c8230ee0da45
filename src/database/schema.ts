import type { Generated, JSONColumnType } from 'kysely'

/**
 * The tables as Kysely sees them. int8 and numeric columns are `bigint`, timestamptz is `Date`, bytea is `Uint8Array`,
 * from both drivers. Amounts inside jsonb are decimal strings.
 */
export interface Schema {
  relayers: RelayersTable
  notifications: NotificationsTable
  accounts: AccountsTable
  transactions: TransactionsTable
  attempts: AttemptsTable
  events: EventsTable
  leases: LeasesTable
  finished_counts: FinishedCountsTable
  event_log: EventLogTable
  notification_keys: NotificationKeysTable
  deliveries: DeliveriesTable
  idempotency_keys: IdempotencyKeysTable
  signers: SignersTable
  network_urls: NetworkUrlsTable
  operated_accounts: OperatedAccountsTable
  file_entries: FileEntriesTable
  operator_decisions: OperatorDecisionsTable
}

export interface RelayersTable {
  id: string
  name: string
  network: string
  network_type: string
  address: string
  signer_id: string
  notification_id: string | null
  paused: boolean
  system_disabled: Generated<boolean>
  disabled_reason: JSONColumnType<{ type: string; details: string }> | null
  /** Amounts as decimal strings. */
  policies: JSONColumnType<object>
  /** `byApi`: a caller chose it, and it leads only where callers may lead us. */
  custom_rpc_urls: JSONColumnType<StoredRpcUrl[]> | null
  /** Stellar: a number, or ids of signers. */
  channels: JSONColumnType<string[]> | null
  created_at: Generated<Date>
  /** Set when the configuration no longer names the relayer, or a caller deleted it; its history stays. */
  removed_at: Date | null
  /** Checks that failed in a row; when the relayer is enabled again, how many it took. */
  failed_checks: Generated<number>
}

/** An RPC url inside jsonb. */
export interface StoredRpcUrl {
  url: string
  weight: number
  untrusted?: true
}

export interface NotificationsTable {
  id: string
  type: string
  url: string
  has_signing_key: boolean
  created_at: Generated<Date>
  /** Nothing is sent while it is set; deliveries wait. */
  paused: Generated<boolean>
  /** `operator` or `gone`. */
  paused_reason: string | null
  /** A caller chose the url: it leads only where callers may lead us. */
  url_untrusted: Generated<boolean>
}

export interface SignersTable {
  id: string
  type: string
  /** The secret of a signer that a caller created; null for one of the file, whose secret is never stored. */
  sealed: Uint8Array | null
  created_at: Generated<Date>
}

/** RPC urls that a caller gave a network instead of those that the configuration gives it. */
export interface NetworkUrlsTable {
  network_type: string
  network: string
  rpc_urls: JSONColumnType<StoredRpcUrl[]>
  /** Fingerprint of the configuration's urls at that time: when those change, they count again. */
  instead_of: string
}

/** What the configuration file said when it was last applied; outlives the record that was made of it. */
export interface FileEntriesTable {
  /** `relayer`, `notification` or `signer`. */
  kind: string
  id: string
  fingerprint: string
}

/** Each account that a relayer takes nonces of, by the chain it is on. */
export interface OperatedAccountsTable {
  /** What tells chains apart: `chain id 1`. */
  chain: string
  address: string
  relayer_id: string
}

/** The numbering of a relayer's lines; its rows are locked together while numbers are given. */
export interface AccountsTable {
  relayer_id: string
  /** Whose nonces are counted. */
  address: string
  /** The next nonce to give; null until the chain was asked for the first time. */
  next_nonce: bigint | null
}

export interface TransactionsTable {
  id: string
  /** Order of acceptance. */
  position: Generated<bigint>
  relayer_id: string
  /** Network and address it is sent from: a relayer may be given another signer later, nonces stay with the account. */
  network: string
  from_address: string
  status: string
  status_reason: string | null
  purpose: string
  request: JSONColumnType<object>
  /** Gas estimated at acceptance; spares a second simulation. */
  estimated_gas: bigint | null
  /** Whose nonce it takes: the account's own, a channel's, or that of whoever signed its content. */
  source_account: string | null
  nonce: bigint | null
  version: Generated<number>
  current_attempt: number | null
  /** Most this transaction can still take from the account, in the smallest unit; 0 once final. */
  cost: Generated<bigint>
  block_number: bigint | null
  block_hash: string | null
  /** Not before this time does a worker look at the row again. */
  next_run_at: Generated<Date>
  created_at: Generated<Date>
  sent_at: Date | null
  confirmed_at: Date | null
  /** Since when it is known that no endpoint can prove whether it was included. */
  undecided_since: Date | null
  /** The time when it was found to block its account for too long. */
  stuck_since: Date | null
  /** When the block of a confirmed transaction was found to be gone. */
  reorganized_at: Date | null
}

/** What operators decided about transactions whose fate nobody can prove. Rows are never changed. */
export interface OperatorDecisionsTable {
  id: Generated<bigint>
  transaction_id: string
  /** `included` or `not_included`. */
  decision: string
  /** The attempt that was included; null when none was. */
  attempt: number | null
  /** Names the incident: a decision is about that one, and not about a later one of the same transaction. */
  undecided_since: Date
  /** In the operator's words. */
  reason: string
  /** The user of the machine on which it was decided. */
  decided_by: string
  decided_at: Generated<Date>
}

export interface AttemptsTable {
  transaction_id: string
  number: number
  kind: string
  source_account: string
  nonce: bigint | null
  hash: string
  /** Of the transaction inside a fee bump (Stellar). Null also in rows of before it was kept; `raw` tells it then. */
  inner_hash: string | null
  raw: Uint8Array
  draft: JSONColumnType<object>
  signature: JSONColumnType<{ r: string; s: string; v: number; sig: string }>
  outcome: string
  error: string | null
  /** What the chain told of the inclusion. */
  result: JSONColumnType<object> | null
  signed_at: Generated<Date>
  broadcast_at: Date | null
}

/** What happened, written in the database transaction of the change itself (I8). */
export interface EventsTable {
  /** Order of writing. Transactions may commit in another order: readers go by `number`. */
  id: Generated<bigint>
  /** The event's name for receivers. */
  uid: Generated<string>
  /** Order for readers, without gaps; null until a reader or the relay asks for the first time. */
  number: bigint | null
  /** Who is to be told; as the relayer was configured when it happened. */
  notification_id: string | null
  /** Null for a test event, which is about a notification alone. */
  relayer_id: string | null
  transaction_id: string | null
  type: string
  payload: JSONColumnType<object>
  created_at: Generated<Date>
}

export interface LeasesTable {
  name: string
  owner: string
  expires_at: Date
  /** Grows with each new owner; a write that carries an older one is refused. */
  fence: bigint
}

/** How many transactions of a relayer ended in which final status; kept in the statement that ends them. */
export interface FinishedCountsTable {
  relayer_id: string
  status: string
  count: bigint
}

/** One row; its lock is the right to give numbers. */
export interface EventLogTable {
  only_row: Generated<boolean>
  last_number: bigint
  /** Deliveries exist for the events up to this number. */
  relayed_number: bigint
}

/** Signing keys, the newest last. One that is no longer the newest goes on signing until it expires. */
export interface NotificationKeysTable {
  id: Generated<bigint>
  notification_id: string
  /** `config` or `api`. */
  source: string
  sealed: Uint8Array
  created_at: Generated<Date>
  expires_at: Date | null
}

/** One event for one notification. */
export interface DeliveriesTable {
  id: string
  notification_id: string
  event_id: bigint
  event_number: bigint
  /** Deliveries of one ordering key arrive in the order of their events. */
  ordering_key: string
  /** `waiting` for an earlier one of its ordering key · `pending`: has a job · `delivered` · `dead`. */
  status: string
  tries: Generated<number>
  /** A failure after this time is the last. */
  give_up_at: Date
  next_try_at: Date | null
  created_at: Generated<Date>
  tried_at: Date | null
  settled_at: Date | null
  /** Request and answer of the newest try. */
  last_try: JSONColumnType<object> | null
}

/** The callers' own names for requests that were accepted; written with the transaction and kept as long. */
export interface IdempotencyKeysTable {
  relayer_id: string
  key: string
  /** SHA-256 of the request's body in canonical form, in hex. */
  fingerprint: string
  transaction_id: string
  created_at: Generated<Date>
}
