import type { Durability } from '../database/durability.ts'
import type { LogLevel } from '../log.ts'
import type { Network } from '../networks/network.ts'
import type { NotificationConfig } from '../notifications/notification.ts'
import type { MailSettings } from '../notifications/receivers/mail.ts'
import type { PluginConfig, PluginHostAddress, PluginUser } from '../plugins/plugin.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import type { Secret } from '../security/secrets.ts'
import type { SignInSettings } from '../sign-in/settings.ts'
import type { SignerConfig } from '../signers/providers/registry.ts'
import type { CallLimits } from '../signers/remote/call.ts'
import type { TelemetrySettings } from '../telemetry/settings.ts'

/** The complete, checked and frozen configuration. Times are in milliseconds. */
export interface Config {
  /** The absolute path of the file with the lists below. */
  readonly file: string
  readonly mode: 'production' | 'development' | 'test'
  readonly logLevel: LogLevel
  readonly server: ServerConfig
  /** The bearer tokens of callers, at least 32 characters each. */
  readonly apiKeys: readonly string[]
  /**
   * The port of the metrics, which need no credential. Port 0 takes a free one; if absent, nothing is
   * counted.
   */
  readonly metrics?: {
    readonly port: number
    /** Host names that scrapers may use, besides those that no web page can have; `*` for all. */
    readonly hostNames: readonly string[]
  }
  /** The traces, metrics and logs to send by OTLP; absent if none. */
  readonly telemetry?: TelemetrySettings
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly database: DatabaseConfig
  /** The limit of one JSON-RPC call. */
  readonly rpcTimeoutMs: number
  /** The limits of calls to the services that hold keys. */
  readonly keyServices: CallLimits
  /** The most transactions of one account that are numbered and not final at the same time. */
  readonly maxInFlight: number
  /** The limit of a graceful shutdown; then the process exits immediately. */
  readonly shutdownMs: number
  /** A graceful stop takes new requests for this long, because load balancers learn late of it. */
  readonly shutdownGraceMs: number
  /** The time between two checks of an enabled relayer. */
  readonly healthIntervalMs: number
  /** The most event streams of one API key. */
  readonly maxStreams: number
  /** The event log keeps an event for this long. */
  readonly eventRetentionMs: number
  /** Final transactions are kept for this long; permanently if absent. */
  readonly transactionRetentionMs?: number
  readonly webhooks: WebhookConfig
  /** The address of the service for people, without a slash at its end; absent if it was not told. */
  readonly publicUrl?: string
  /** The SMTP server for alerts by e-mail; absent if the service sends none. */
  readonly mail?: MailSettings
  /**
   * Lets URLs from API callers lead to this machine and its private networks. URLs of the file always may.
   */
  readonly allowPrivateUrls: boolean
  /** 32 bytes in base64 that encrypt secrets in the database. If absent, the service stores no secret. */
  readonly sealingKey?: Secret
  readonly networks: readonly Network[]
  readonly relayers: readonly RelayerConfig[]
  /**
   * The ids of the relayers whose policies callers of the API may relax; for the others the file sets the
   * ceiling.
   */
  readonly apiMayRelax: readonly string[]
  readonly signers: readonly SignerConfig[]
  readonly notifications: readonly NotificationConfig[]
  readonly plugins: readonly PluginConfig[]
  /** The provider with which people sign in; absent if they cannot. */
  readonly signIn?: SignInSettings | undefined
  /** Changes of keys, rules, signers and receivers need a second person; absent if they do not. */
  readonly secondPerson?: { readonly expiresMs: number } | undefined
  /** Another host runs the plugins; absent if this process does. */
  readonly pluginHost?: PluginHostAddress
  /** The user of the processes of plugins; absent if it is that of the service. */
  readonly pluginUser?: PluginUser
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
  /** The url of PostgreSQL, which may contain a password. If absent, the database is embedded. */
  readonly url?: string
  /** Names the same database as `url` without a pooler. If absent, there is no pooler. */
  readonly directUrl?: string
  /** The absolute folder of the embedded database, or `memory://`. */
  readonly dataDir: string
  /** The events that an answered commit of the embedded database survives. */
  readonly durability: Durability
  /** The time for which a PostgreSQL that cannot be reached is awaited. */
  readonly waitMs: number
}
