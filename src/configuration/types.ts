import type { EvmPolicies } from '../chains/chain.ts'
import type { Network, NetworkType, RpcUrl } from '../networks/network.ts'
import type { Secret } from './secret.ts'

/** Everything that is decided before the start: complete, checked, frozen. Times in milliseconds. */
export interface Config {
  /** The file that the lists below were read from, absolute. */
  readonly file: string
  readonly mode: 'production' | 'development' | 'test'
  readonly logLevel: LogLevel
  readonly server: ServerConfig
  /** Bearer tokens of callers, at least 32 characters each. */
  readonly apiKeys: readonly string[]
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly database: DatabaseConfig
  /** How long one JSON-RPC call may take. */
  readonly rpcTimeoutMs: number
  /** Most transactions of one account that are numbered and not final at the same time. */
  readonly maxInFlight: number
  /** How long a stop may take before it is forced. */
  readonly shutdownMs: number
  readonly networks: readonly Network[]
  readonly relayers: readonly RelayerConfig[]
  readonly signers: readonly SignerConfig[]
  readonly notifications: readonly NotificationConfig[]
}

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

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

export interface RelayerConfig {
  readonly id: string
  readonly name: string
  readonly network: string
  readonly networkType: NetworkType
  readonly signerId: string
  readonly notificationId?: string
  readonly paused: boolean
  readonly policies: EvmPolicies
  /** Used instead of the network's own when present; never empty. */
  readonly customRpcUrls?: readonly RpcUrl[]
}

/** `local`: an encrypted keystore file · `plain`: a private key as 64 hex digits. */
export type SignerConfig =
  | { readonly id: string; readonly type: 'local'; readonly path: string; readonly passphrase: Secret }
  | { readonly id: string; readonly type: 'plain'; readonly key: Secret }

export interface NotificationConfig {
  readonly id: string
  readonly type: 'webhook'
  readonly url: string
  /** Signs deliveries. Never stored, never shown. */
  readonly signingKey?: Secret
}
