import type { Generated, JSONColumnType } from 'kysely'

/** API keys, including deleted ones: records name who did something by their id. */
export interface ApiKeysTable {
  id: string
  name: string
  scopes: JSONColumnType<string[]>
  /** Patterns of ids; null for all relayers. */
  relayers: JSONColumnType<string[]> | null
  /** `type:name`; null for all networks. */
  networks: JSONColumnType<string[]> | null
  /** The rules for spending; null for none. */
  rules: JSONColumnType<object> | null
  disabled: Generated<boolean>
  expires_at: Date | null
  created_at: Generated<Date>
  /** The id of an API key, or `root`. */
  created_by: string
  deleted_at: Date | null
}

/** The accepted secrets of keys: at most two for each. */
export interface ApiKeySecretsTable {
  /** The SHA-256 of the secret, which itself is never stored. */
  hash: Uint8Array
  api_key_id: string
  /** Its first characters. */
  prefix: string
  created_at: Generated<Date>
  /** The end of the overlap after a rotation; null for the newest secret. */
  expires_at: Date | null
}

/** The last use of each key, some time later. */
export interface ApiKeyUsesTable {
  api_key_id: string
  last_used_at: Date
}

/** One row, whose version grows with each change of keys or secrets. */
export interface ApiKeyChangesTable {
  id: Generated<number>
  version: bigint
}

/** People who have signed in, as the provider named them last. Records name them by their id. */
export interface PeopleTable {
  id: string
  issuer: string
  /** The id of the person at the issuer. */
  subject: string
  name: string | null
  email: string | null
}

/** The sessions of people that have not ended. */
export interface SessionsTable {
  id: string
  /** The SHA-256 of the secret in the cookie, which itself is never stored. */
  hash: Uint8Array
  person_id: string
  roles: JSONColumnType<string[]>
  /** The address from which the person signed in. */
  address: string | null
  user_agent: string | null
  created_at: Date
  last_used_at: Date
  expires_at: Date
}

/** One row, whose version grows with each session that begins or ends. */
export interface SessionChangesTable {
  id: Generated<number>
  version: bigint
}

/** Changes that wait or have waited for a second person. */
export interface ProposalsTable {
  id: string
  operation: string
  /** The record, such as `api_key:payments`; null for a new one without an id. */
  target: string | null
  /** The input of the operation as JSON, sealed; empty after the decision. */
  proposed_input: string
  /** The input without secrets. */
  shown: JSONColumnType<object>
  /** The id of a person. */
  proposed_by: string
  created_at: Date
  expires_at: Date
  /** Null while it waits; `unfinished` from the approval until its change has taken effect. */
  decision: string | null
  decided_by: string | null
  decided_at: Date | null
  decision_reason: string | null
}

/** The buckets of API keys that several processes count together. A key without a row has a full one. */
export interface RateLimitsTable {
  key: string
  /**
   * The burst size that was available at `filled_at`; negative after processes have allowed too many
   * together.
   */
  tokens: number
  /** By the clock of the database. */
  filled_at: Date
}

/** The audit log. A trigger refuses to change and to delete its rows. */
export interface AuditLogTable {
  /** `management`, or `relayer:<id>` for what one relayer sends and signs. */
  chain: string
  /** The position in the chain, from 1 without a gap. */
  number: bigint
  /** The time of the database, in milliseconds. */
  at: Date
  /**
   * The id of the API key or person; `configuration` for the configuration file, `operator` for the command
   * line.
   */
  actor: string
  /** The person, as the provider named them at that time; null if no one was signed in. */
  person: JSONColumnType<object> | null
  /** The address of the caller; null without one. */
  address: string | null
  /** The id of the request; null without one. */
  request_id: string | null
  action: string
  target_type: string
  target_id: string
  /** The record before the change, without secrets, is null where there was none. */
  before: JSONColumnType<object> | null
  /** The record after the change, without secrets, is null where there is none. */
  after: JSONColumnType<object> | null
  /** The SHA-256 of the previous hash and of this entry. */
  hash: Uint8Array
}

/** The newest entry of each chain. A writer keeps the lock of the row until its commit. */
export interface AuditChainsTable {
  chain: string
  /** 0 before the first entry. */
  number: bigint
  hash: Uint8Array
}
