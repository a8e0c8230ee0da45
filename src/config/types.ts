import type { LogLevel } from '../log.ts'
import type { Network } from '../networks/network.ts'
import type { NotificationConfig } from '../notifications/notification.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import type { Secret } from '../security/secret.ts'
import type { SignerConfig } from '../signers/load.ts'

/** Everything that is decided before the start: complete, checked, frozen. Times in milliseconds. */
export interface Config {
  /** The file that the lists below were read from, absolute. */
  readonly file: string
  readonly mode: 'production' | 'development' | 'test'
  readonly logLevel: LogLevel
  readonly server: ServerConfig
  /** Bearer tokens of callers, at least 32 characters each. */
  readonly apiKeys: readonly string[]
  /** Where the metrics are served to everybody; absent: nothing is counted. Port 0 takes a free one. */
  readonly metrics?: { readonly port: number }
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly database: DatabaseConfig
  /** How long one JSON-RPC call may take. */
  readonly rpcTimeoutMs: number
  /** Most transactions of one account that are numbered and not final at the same time. */
  readonly maxInFlight: number
  /** How long a stop may take before it is forced. */
  readonly shutdownMs: number
  /** Time between two checks of an enabled relayer. */
  readonly healthIntervalMs: number
  /** How long the event log keeps an event. */
  readonly eventRetentionMs: number
  readonly webhooks: WebhookConfig
  /**
   * Whether urls that callers of the API choose may lead to this machine and the private networks around it. The urls of the
   * file are the operator's own and always may.
   */
  readonly allowPrivateUrls: boolean
  /** 32 bytes in base64 that seal secrets in the database; absent: none are stored. */
  readonly sealingKey?: Secret
  readonly networks: readonly Network[]
  readonly relayers: readonly RelayerConfig[]
  readonly signers: readonly SignerConfig[]
  readonly notifications: readonly NotificationConfig[]
}

export interface WebhookConfig {
  /** The longest that one try may last. */
  readonly timeoutMs: number
  /** How long an event is tried before it becomes a dead letter. */
  readonly retryMs: number
}

export interface ServerConfig {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  readonly maxBodyBytes: number
}

export interface DatabaseConfig {
  /** PostgreSQL; absent means embedded. May contain a password. */
  readonly url?: string
  /** Folder of the embedded database, absolute, or `memory://`. */
  readonly dataDir: string
}
