import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

/** Relayers, including removed ones. */
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
  /** `untrusted`: a caller chose the url, so it may lead only to addresses that are allowed for callers. */
  custom_rpc_urls: JSONColumnType<StoredRpcUrl[]> | null
  /** Stellar: a number, or ids of signers. */
  channels: JSONColumnType<string[]> | null
  /** The signers of its accounts, its own first; null for a relayer that never had further accounts. */
  accounts: JSONColumnType<{ signerId: string; count: number }[]> | null
  /** The distance of a further account from the first account of its signer; null if it is that one. */
  account_index: number | null
  /** A further account that takes no new work, and is removed when it has none. */
  draining: Generated<boolean>
  /** The id that callers know: its own, or for a further account that of its relayer. */
  pool_id: GeneratedAlways<string>
  created_at: Generated<Date>
  /**
   * The time when the configuration no longer named the relayer or a caller deleted it; its history stays.
   */
  removed_at: Date | null
  /**
   * The number of consecutive failed checks. After the relayer is enabled again, it keeps the number that it
   * had.
   */
  failed_checks: Generated<number>
}

/** An RPC url inside jsonb. */
export interface StoredRpcUrl {
  url: string
  weight: number
  untrusted?: true
}

/** Destinations for events. */
export interface NotificationsTable {
  id: string
  type: string
  url: string
  has_signing_key: boolean
  created_at: Generated<Date>
  /** While it is true, nothing is sent and deliveries wait. */
  paused: Generated<boolean>
  /** `operator` or `gone`. */
  paused_reason: string | null
  /** The kinds of alerts that it gets; null for all. */
  alerts: JSONColumnType<string[]> | null
  /** The reference of the transactions that a webhook is told about, and the API key that requests them. */
  reference: string | null
  requested_by: string | null
  /** A caller chose the url, so it may lead only to addresses that are allowed for callers. */
  url_untrusted: Generated<boolean>
}

/** Signers of the configuration file and of callers. */
export interface SignersTable {
  id: string
  type: string
  /**
   * The sealed secret of a signer that a caller created; null for a signer of the file, whose secret is never
   * stored.
   */
  sealed: Uint8Array | null
  /** The public part of its configuration; null if there is none. */
  config: JSONColumnType<object> | null
  /**
   * The public keys, as hex digits by curve, of a signer whose key another service holds; null for any other.
   */
  public_keys: JSONColumnType<{ secp256k1?: string; ed25519?: string }> | null
  created_at: Generated<Date>
}

/** Keys that key services created, or are to create, for signers. */
export interface KeyCreationsTable {
  signer_id: string
  type: string
  curve: string
  /** The public part of the place of the key, by wire names. */
  config: JSONColumnType<object>
  /** The name or tag by which the key is found after a lost answer. */
  key_name: string
  /** `requested`, `made` or `usable`. */
  state: Generated<string>
  /** The fields that name the key in the configuration of the signer; null while it is requested. */
  key_fields: JSONColumnType<object> | null
  /** Until then a call that creates the key can be on its way; null if there was none. */
  call_until: Date | null
  /** The last failure, as a sentence. */
  problem: string | null
  /** The accounts of the key, by type of network; null until it is usable. */
  addresses: JSONColumnType<object> | null
  created_at: Date
}

/** RPC urls of a network that a caller set in place of those in the configuration. */
export interface NetworkUrlsTable {
  network_type: string
  network: string
  rpc_urls: JSONColumnType<StoredRpcUrl[]>
  /**
   * The fingerprint of the urls in the configuration at that time. When those urls change, they are used
   * again.
   */
  instead_of: string
}

/** The private endpoints that callers chose for networks. */
export interface NetworkPrivateUrlsTable {
  network_type: string
  network: string
  private_rpc_urls: JSONColumnType<StoredPrivateRpcUrl[]>
  /** The fingerprint of the private endpoints in the configuration at that time. */
  instead_of: string
}

/** A private endpoint as JSON. The method is the one of JSON-RPC that takes the bytes. */
interface StoredPrivateRpcUrl {
  url: string
  method: 'eth_sendRawTransaction' | 'eth_sendPrivateTransaction'
  untrusted?: true
}

/** The chains that networks have. */
export interface ChainIdentitiesTable {
  network_type: string
  network: string
  /**
   * The hash of the first block when the service saw the chain first; null until then, and on chains without
   * such a hash.
   */
  genesis: string | null
  /** The number of times that an operator has declared the chain as reset. */
  resets: Generated<number>
}

/** The decimals that tokens say they have. */
export interface TokenDecimalsTable {
  network_type: string
  network: string
  token: string
  decimals: number
}

/** The entries of the configuration file at its last application. They stay when their record is deleted. */
export interface FileEntriesTable {
  /** `relayer`, `notification`, `signer` or `plugin`. */
  kind: string
  id: string
  fingerprint: string
}

/** The accounts whose nonces a relayer uses, by chain. */
export interface OperatedAccountsTable {
  /** The identity of the chain: `chain id 1`. */
  chain: string
  address: string
  relayer_id: string
}

/** Leases of processes. A row is never deleted, so that its fence never restarts. */
export interface LeasesTable {
  name: string
  owner: string
  /** Infinity if the lease lasts as long as its owner is alive. */
  expires_at: Date
  /** A number that grows with each new owner. A write with an older one is refused. */
  fence: bigint
}

/** The processes that share the database. */
export interface ProcessesTable {
  /** The owner in `leases`. */
  id: string
  started_at: Generated<Date>
  /** The process moves this time while it runs. */
  alive_until: Date
  /** The ids of the relayers that the process cannot act for. */
  cannot_act: Generated<string[]>
}

/** The interfaces that callers have registered for contracts: on EVM, ABIs. A removed relayer has none. */
export interface ContractInterfacesTable {
  relayer_id: string
  /** The address of the contract in the canonical spelling of its chain. */
  address: string
  /** The name of the contract for people; null for none. */
  name: string | null
  /** The interface as it is shown. */
  document: JSONColumnType<readonly object[]>
  /**
   * The functions of the document by the key that a call begins with, so that one is read without the others:
   * on EVM the selector.
   */
  functions: JSONColumnType<Readonly<Record<string, object>>>
  /** The id of the API key that registered the current document. */
  registered_by: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/** The settings of plugins that callers changed, over those of the configuration file. */
export interface PluginsTable {
  id: string
  settings: JSONColumnType<object>
}

/** The values that plugins store. */
export interface PluginValuesTable {
  plugin_id: string
  key: string
  /** JSON. */
  value: string
  bytes: number
  /** By the clock of the database; null for none. */
  expires_at: Date | null
}

/** The locks that plugins hold. */
export interface PluginLocksTable {
  plugin_id: string
  key: string
  owner: string
  /** By the clock of the database. */
  expires_at: Date
}

/** The newest event with which the hook of a plugin was called, or that waits in `plugin_events`. */
export interface PluginCursorsTable {
  plugin_id: string
  event_number: bigint
}

/** The events that a plugin has not taken yet. */
export interface PluginEventsTable {
  plugin_id: string
  event_number: bigint
  /** Of the events with the same key, the plugin gets only the oldest. */
  ordering_key: string
  tries: number
  /** By the clock of the database. */
  next_try_at: Date
  /** Null for an event that waits for an earlier one. */
  first_try_at: Date | null
}

/** The last runs of the schedules of plugins. */
export interface PluginSchedulesTable {
  plugin_id: string
  name: string
  /** The expression and the time zone. */
  cron: string
  /** The newest time that was run, or at which the schedule began. */
  last_at: Date
}
