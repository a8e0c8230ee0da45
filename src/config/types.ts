import type { Durability } from '../database/durability.ts'
import type { LogLevel } from '../log.ts'
import type { Network } from '../networks/network.ts'
import type { NotificationConfig } from '../notifications/notification.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import type { Secret } from '../security/secrets.ts'
import type { SignerConfig } from '../signers/providers/registry.ts'
import type { CallLimits } from '../signers/remote/call.ts'
import type { TelemetrySettings } from '../telemetry/settings.ts'

/** The complete, checked and frozen configuration. Times are in milliseconds. */
export interface Config {
  /** The absolute path of the file that holds the lists below. */
  readonly file: string
  readonly mode: 'production' | 'development' | 'test'
  readonly logLevel: LogLevel
  readonly server: ServerConfig
  /** The bearer tokens of callers, at least 32 characters each. */
  readonly apiKeys: readonly string[]
  /** The port of the metrics, which need no credential. Port 0 takes a free one; without the field nothing is counted. */
  readonly metrics?: {
    readonly port: number
    /** Names by which scrapers may ask, besides those that no page on the internet can have; `*` for every one. */
    readonly hostNames: readonly string[]
  }
  /** The traces, metrics and logs that are sent by OTLP; absent when nothing is. */
  readonly telemetry?: TelemetrySettings
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly database: DatabaseConfig
  /** The limit of one JSON-RPC call. */
  readonly rpcTimeoutMs: number
  /** The limits of calls to the services that hold keys. */
  readonly keyServices: CallLimits
  /** The most transactions of one account that are numbered and not final at the same time. */
  readonly maxInFlight: number
  /** The limit of a graceful stop; the process then ends at once. */
  readonly shutdownMs: number
  /** A graceful stop takes new requests for this long, because load balancers learn late of it. */
  readonly shutdownGraceMs: number
  /** The time between two checks of an enabled relayer. */
  readonly healthIntervalMs: number
  /** The most event streams of one API key. */
  readonly maxStreams: number
  /** The event log keeps an event for this long. */
  readonly eventRetentionMs: number
  readonly webhooks: WebhookConfig
  /**
   * Lets urls that callers of the API choose lead to this machine and the private networks around it. The urls of the file always
   * may.
   */
  readonly allowPrivateUrls: boolean
  /** 32 bytes in base64 that seal secrets in the database. Without the field the service stores no secret. */
  readonly sealingKey?: Secret
  readonly networks: readonly Network[]
  readonly relayers: readonly RelayerConfig[]
  /** The ids of the relayers whose policies callers of the API may relax; for the others the file sets the ceiling. */
  readonly apiMayRelax: readonly string[]
  readonly signers: readonly SignerConfig[]
  readonly notifications: readonly NotificationConfig[]
}

/** The limits of webhook deliveries. */
export interface WebhookConfig {
  /** The limit of one try. */
  readonly timeoutMs: number
  /** The service tries an event for this long; the event then becomes a dead letter. */
  readonly retryMs: number
}

/** The address and the limits of the HTTP server. */
export interface ServerConfig {
  readonly host: string
  /** Port 0 takes a free one. */
  readonly port: number
  readonly maxConnections: number
  /** The most connections of one peer without a valid key; 0: a quarter of `maxConnections`. */
  readonly maxConnectionsPerPeer: number
  /** IP addresses and networks of the proxies in front of the service. */
  readonly trustedProxies: readonly string[]
  /** The origins whose pages may read event streams, e.g. `https://app.example`. */
  readonly corsOrigins: readonly string[]
  /** True when the console is served at `/console`. */
  readonly console: boolean
  readonly requestTimeoutMs: number
  readonly maxBodyBytes: number
}

/** The database: PostgreSQL, or the embedded one. */
export interface DatabaseConfig {
  /** The url of PostgreSQL, which may contain a password. Without the field the database is embedded. */
  readonly url?: string
  /** Leads to the same database as `url` without a pooler. Without the field there is no pooler between. */
  readonly directUrl?: string
  /** The absolute folder of the embedded database, or `memory://`. */
  readonly dataDir: string
  /** The events that an answered commit of the embedded database survives. */
  readonly durability: Durability
  /** The time for which a PostgreSQL that cannot be reached is awaited. */
  readonly waitMs: number
}
