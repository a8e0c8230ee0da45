import type { JSONColumnType } from 'kysely'

/** The audit log. A trigger refuses to change and to delete its rows. */
export interface AuditLogTable {
  /** `management`, or `relayer:<id>` for what one relayer sends and signs. */
  chain: string
  /** The position in the chain, from 1 without a gap. */
  number: bigint
  /** The time of the database, in milliseconds. */
  at: Date
  /** The id of the API key; `configuration` for the configuration file, `operator` for the command line. */
  actor: string
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

/** The newest entry of each chain. Who appends holds the lock of the row until the commit. */
export interface AuditChainsTable {
  chain: string
  /** 0 before the first entry. */
  number: bigint
  hash: Uint8Array
}
