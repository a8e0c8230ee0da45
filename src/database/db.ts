import type { Kysely, Transaction } from 'kysely'
import type {
  ApiKeyChangesTable,
  ApiKeySecretsTable,
  ApiKeysTable,
  ApiKeyUsesTable,
  AuditChainsTable,
  AuditLogTable,
  PeopleTable,
  ProposalsTable,
  RateLimitsTable,
  SessionChangesTable,
  SessionsTable,
} from './tables/access.ts'
import type {
  AlertsTable,
  DeliveriesTable,
  DeliveryCountsTable,
  DeliveryCursorsTable,
  EventsTable,
  NotificationKeysTable,
  StreamTicketsTable,
  WatchedStatesTable,
} from './tables/events.ts'
import type {
  ChainIdentitiesTable,
  ContractInterfacesTable,
  FileEntriesTable,
  KeyCreationsTable,
  LeasesTable,
  NetworkPrivateUrlsTable,
  NetworkUrlsTable,
  NotificationsTable,
  OperatedAccountsTable,
  PluginCursorsTable,
  PluginEventsTable,
  PluginLocksTable,
  PluginSchedulesTable,
  PluginsTable,
  PluginValuesTable,
  ProcessesTable,
  RelayersTable,
  SignersTable,
  TokenDecimalsTable,
} from './tables/relayers.ts'
import type { ScheduleRunsTable, SchedulesTable } from './tables/schedules.ts'
import type {
  AccountsTable,
  ApprovalsTable,
  AttemptsTable,
  FinishedCountsTable,
  IdempotencyKeysTable,
  KnownReceiversTable,
  OperatorDecisionsTable,
  SpendersTable,
  SpendingsTable,
  SpentTable,
  SponsoredQuotesTable,
  TopUpsTable,
  TransactionsTable,
  TransactionTermsTable,
} from './tables/transactions.ts'

/** The database, or a transaction of it. */
export type Db = Kysely<Schema>

/** A database transaction. A function that takes one writes in it, and leaves the commit to its caller. */
export type Tx = Transaction<Schema>

/**
 * The tables as Kysely sees them. int8 and numeric columns are `bigint`, timestamptz is `Date`, bytea is
 * `Uint8Array`, from both drivers. Amounts inside jsonb are decimal strings.
 */
export interface Schema {
  relayers: RelayersTable
  notifications: NotificationsTable
  accounts: AccountsTable
  transactions: TransactionsTable
  attempts: AttemptsTable
  events: EventsTable
  alerts: AlertsTable
  watched_states: WatchedStatesTable
  leases: LeasesTable
  processes: ProcessesTable
  finished_counts: FinishedCountsTable
  notification_keys: NotificationKeysTable
  deliveries: DeliveriesTable
  delivery_counts: DeliveryCountsTable
  delivery_cursors: DeliveryCursorsTable
  stream_tickets: StreamTicketsTable
  idempotency_keys: IdempotencyKeysTable
  signers: SignersTable
  key_creations: KeyCreationsTable
  network_urls: NetworkUrlsTable
  network_private_urls: NetworkPrivateUrlsTable
  operated_accounts: OperatedAccountsTable
  file_entries: FileEntriesTable
  operator_decisions: OperatorDecisionsTable
  transaction_terms: TransactionTermsTable
  chain_identities: ChainIdentitiesTable
  token_decimals: TokenDecimalsTable
  plugins: PluginsTable
  plugin_values: PluginValuesTable
  plugin_locks: PluginLocksTable
  plugin_cursors: PluginCursorsTable
  plugin_events: PluginEventsTable
  plugin_schedules: PluginSchedulesTable
  api_keys: ApiKeysTable
  api_key_secrets: ApiKeySecretsTable
  api_key_uses: ApiKeyUsesTable
  api_key_changes: ApiKeyChangesTable
  people: PeopleTable
  sessions: SessionsTable
  session_changes: SessionChangesTable
  proposals: ProposalsTable
  rate_limits: RateLimitsTable
  audit_log: AuditLogTable
  audit_chains: AuditChainsTable
  spenders: SpendersTable
  spendings: SpendingsTable
  spent: SpentTable
  approvals: ApprovalsTable
  known_receivers: KnownReceiversTable
  contract_interfaces: ContractInterfacesTable
  top_ups: TopUpsTable
  sponsored_quotes: SponsoredQuotesTable
  schedules: SchedulesTable
  schedule_runs: ScheduleRunsTable
}

/** The database, embedded or not. Both engines use the same SQL and return the same JavaScript values. */
export interface Database {
  readonly engine: 'pglite' | 'postgres'
  readonly db: Db
  /**
   * Calls `handler` with the payload of each notification on `channel`. After a lost connection it calls it
   * once with an empty payload, because notifications may have been missed. The returned function stops
   * listening.
   */
  listen(channel: string, handler: (payload: string) => void): Promise<() => Promise<void>>
  /**
   * Returns what holds up statements on a server: a commit that no standby confirms, or a lock; undefined if
   * nothing does.
   */
  readonly blockedBy?: () => 'standby' | 'lock' | undefined
  /** Ends all connections. No query may follow. */
  close(): Promise<void>
}
