import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

/**
 * The nonce counters of a relayer's source accounts. All rows of a relayer are locked while nonces are
 * assigned.
 */
export interface AccountsTable {
  relayer_id: string
  /** The source account whose nonces are counted. */
  address: string
  /** The next nonce to assign; null until it was read from the chain. */
  next_nonce: bigint | null
  /**
   * The chain may have used the nonces below this one: when the account was first seen they were used, an
   * operator accepted them, or the service signed transactions with them that their callers broadcast. Null
   * before the account was first seen.
   */
  known_nonce: bigint | null
  /**
   * The records explain what the account has signed up to the end of this slot, or it was accepted. Null
   * before the account was first seen, and on chains with nonces.
   */
  known_slot: bigint | null
  /** The newest transaction that names the account up to there; null where there was none. */
  known_hash: string | null
}

/** Transactions, from acceptance to a final status. */
export interface TransactionsTable {
  id: string
  /** The order of acceptance. */
  position: Generated<bigint>
  relayer_id: string
  /** The network of the sender. A relayer may get another signer later, but nonces stay with the account. */
  network: string
  from_address: string
  status: string
  /** The database derives it from the status; the indexes have it instead. */
  phase: GeneratedAlways<string>
  status_reason: string | null
  purpose: string
  request: JSONColumnType<object>
  /** Gas estimated at acceptance. It saves a second simulation. */
  estimated_gas: bigint | null
  /**
   * The account whose nonce it uses: the relayer's own account, a channel account, or that of a third party.
   */
  source_account: string | null
  nonce: bigint | null
  version: Generated<number>
  current_attempt: number | null
  /**
   * The maximum that it can still take from the account, in the smallest unit; 0 after the chain has decided.
   */
  cost: Generated<bigint>
  block_number: bigint | null
  block_hash: string | null
  /** The time that the block states; null as long as no node has told it. */
  block_time: Date | null
  /** True when it takes from the budget of an API key or a relayer. */
  budgeted: Generated<boolean>
  /**
   * The id of the API key that requested it, `service` for a top-up; null for other transactions of the
   * service itself.
   */
  requested_by: string | null
  /** The relayer that it fills; null for everything but top-ups. */
  top_up_of: string | null
  /** Open transactions of the same lane of a relayer are of one account; null for none. */
  lane: string | null
  /** The caller's own name for the transaction; null for none. */
  reference: string | null
  /** The caller's own text about the transaction; null for none. */
  description: string | null
  /** The schedule whose run it is; null for none. */
  schedule_id: string | null
  /** The user of the caller for whom it was requested; null if the caller named none. */
  user_id: string | null
  /** The `traceparent` of the request that created it; null where traces were off. */
  trace_parent: string | null
  /** True while it waits for an approval; null otherwise. */
  awaits_approval: Generated<boolean | null>
  /**
   * True while no block could include it at the price that its caller named: nothing is signed, and others
   * overtake it; null otherwise.
   */
  awaits_price: Generated<boolean | null>
  /** The `valid_from` of the request: nothing is signed before this time. */
  valid_from: Date | null
  /** The other transaction that the caller named as one to wait for; null for none. */
  after_transaction: JSONColumnType<object> | null
  /** The id of the transaction that it still waits for: nothing is signed, and others overtake it. */
  awaits_transaction: string | null
  /** The time when its wait for another transaction was over. */
  released_at: Date | null
  /** The earliest time at which a worker processes the row again. */
  next_run_at: Generated<Date>
  created_at: Generated<Date>
  sent_at: Date | null
  confirmed_at: Date | null
  /** The time since which no endpoint can prove whether it was included. */
  undecided_since: Date | null
  /** The time when it was found to block its account for too long. */
  stuck_since: Date | null
  /**
   * True when its bytes go to the private endpoints of the network only, until `made_public_at`; null
   * otherwise.
   */
  private: boolean | null
  /** The newest block when its bytes were first sent to private endpoints; null until then. */
  private_since_block: bigint | null
  /** The time from which its bytes go to the ordinary endpoints as well; null before. */
  made_public_at: Date | null
  /** The time when the block of the confirmed transaction was found to be missing from the chain. */
  reorganized_at: Date | null
  /** The hash that an operator stated of what was included, where no attempt has it. */
  stated_hash: string | null
  /** The time when the chain that it was on was reset; null on the current chain. */
  reset_at: Date | null
}

/**
 * The terms by which transactions are found, besides their columns: a row each, in the order of acceptance.
 * `transactions` would get an entry in each further index at every step; these rows never change.
 */
export interface TransactionTermsTable {
  relayer_id: string
  /** The kind and the value, such as `to:0x…`. */
  term: string
  /** That of the transaction. */
  position: bigint
  /** Distinguishes the transfers of a transaction with the same term; 0 for other terms. */
  number: Generated<number>
  /** The asset of a transfer to the receiver of the term; null for other terms. */
  asset: string | null
  /** The amount of the transfer, in the smallest unit; null for other terms. */
  amount: bigint | null
}

/** Decisions of operators about what the database and the endpoints cannot know. Rows are never changed. */
export interface OperatorDecisionsTable {
  id: Generated<bigint>
  transaction_id: string
  /** `included` or `not_included`. */
  decision: string
  /** The attempt that was included; null if none was, or none of those that the database has. */
  attempt: number | null
  /** The hash of what was included, where no attempt has it and the operator knows it. */
  hash: string | null
  /**
   * Identifies the incident: the decision is not valid for a later one of the same transaction. Null for a
   * pending transaction.
   */
  undecided_since: Date | null
  /** The operator's reason. */
  reason: string
  /** The user name of the operator on the machine. */
  decided_by: string
  decided_at: Generated<Date>
}

/** Every attempt that was ever signed (I3, I4). */
export interface AttemptsTable {
  transaction_id: string
  number: number
  kind: string
  source_account: string
  nonce: bigint | null
  hash: string
  /** The hash of the transaction inside a fee bump (Stellar). */
  inner_hash: string | null
  raw: Uint8Array
  draft: JSONColumnType<object>
  signature: JSONColumnType<{ r: string; s: string; v: number; sig?: string }>
  /** Its outcome; see `ATTEMPT_OUTCOMES`. */
  outcome: string
  error: string | null
  /** The number of consecutive refusals in unknown wording, or in a comparison with such content. */
  refusals: Generated<number>
  /**
   * The chain's result of its inclusion; null while no block of the chain includes it. A lost result is in
   * the events of its block.
   */
  result: JSONColumnType<object> | null
  signed_at: Generated<Date>
  /** The time when a node first accepted it; null when none has. */
  broadcast_at: Date | null
  /** That of its transaction. */
  reset_at: Date | null
}

/**
 * The number of transactions of a relayer by final status, updated in the statement that makes them final.
 */
export interface FinishedCountsTable {
  relayer_id: string
  status: string
  count: bigint
}

/** The idempotency keys of accepted requests, written with the transaction and kept as long. */
export interface IdempotencyKeysTable {
  relayer_id: string
  key: string
  /** The id of the API key that chose it; empty if it is the same name for all. */
  api_key_id: Generated<string>
  /** The SHA-256 of the body in canonical form, in hex. */
  fingerprint: string
  transaction_id: string
  created_at: Generated<Date>
}

/** Transactions that wait or have waited for an approval. A row changes once, when it is decided. */
export interface ApprovalsTable {
  transaction_id: string
  relayer_id: string
  /** The id of the API key that sent the transaction. */
  requested_by: string
  /** The rules that require the approval: `ApprovalReason[]` of `transactions/approvals`. */
  reasons: JSONColumnType<readonly object[]>
  created_at: Date
  expires_at: Date
  /** `approved`, `refused` or `expired`; null until then, and when the transaction ended before. */
  decision: string | null
  /** The id of the API key that decided. */
  decided_by: string | null
  decided_at: Date | null
  /** The comment of the person who decided. */
  decision_reason: string | null
}

/** Receivers that approved transactions of an API key or a relayer have paid. */
export interface KnownReceiversTable {
  /** `key:<id>` or `relayer:<id>`. */
  subject: string
  /** By type and name. */
  network: string
  receiver: string
}

/** API keys and relayers with limits. Checking a limit locks the row of its spender until the commit. */
export interface SpendersTable {
  /** `key:<id>` or `relayer:<id>`. */
  subject: string
}

/** Each row says how much one version of a transaction takes from the budget of one spender, in one asset. */
export interface SpendingsTable {
  transaction_id: string
  subject: string
  /** By type and name. */
  network: string
  asset: string
  /** Counts from 1. */
  version: Generated<number>
  /** True when what is signed next is another version. */
  closed: Generated<boolean>
  /** The time at which it counts: that of the request, or of the latest one that raised it. */
  at: Date
  /** The most that the transaction can take, whichever of its attempts is included. */
  most_value: bigint
  most_fees: bigint
  /**
   * This amount counts now: the most while the transaction is open, and the amount that it took once the
   * chain has decided.
   */
  value: bigint
  fees: bigint
  count: number
  /** True when the chain has decided, and for what was only signed. */
  settled: Generated<boolean>
}

/** The sums of what counts, by steps of time. */
export interface SpentTable {
  subject: string
  network: string
  asset: string
  period: string
  /** The start of the step. */
  step: Date
  value: bigint
  fees: bigint
  count: number
}

/**
 * Each row has the last decision about a relayer that another one refills. A relayer has no row before the
 * first decision.
 */
export interface TopUpsTable {
  relayer_id: string
  /** `enough`, `pending`, `limit_reached`, `waiting` or `refused`. */
  state: string
  /** The code of a refusal; null otherwise. */
  code: string | null
  /** The payment that is not final yet, or the last one that did not succeed; null otherwise. */
  transaction_id: string | null
  /** The number of refusals in a row. */
  failures: Generated<number>
  /** The service does not try again before this time; null where it need not wait. */
  retry_at: Date | null
  changed_at: Generated<Date>
}

/** Each row has what a user was quoted for one content, and the transaction that used it. */
export interface SponsoredQuotesTable {
  id: string
  relayer_id: string
  /** The SHA-256 of the requested content and token. */
  content: string
  /** Identifies the transaction that was built; null until then. */
  hash: string | null
  token: string
  /** In base units of the token. */
  amount: bigint
  /** The network fee that is paid for, in the smallest unit. */
  fee: bigint
  payer: string
  receiver: string | null
  valid_until: Date
  /** The transaction that was accepted with it; null until then. */
  transaction_id: string | null
  created_at: Date
}
