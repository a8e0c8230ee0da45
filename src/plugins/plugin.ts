import { KEYS_OF_PLUGINS } from '../access/api-key.ts'
import type { Rights } from '../access/principal.ts'
import { mapFields } from '../lib/object.ts'
import type { PluginHooks } from './hooks/hook.ts'

/** The settings of a plugin that callers with the scope `plugins:admin` may change. */
export interface PluginSettings {
  /** The longest time of a call in seconds. */
  readonly timeout: number
  readonly emitLogs: boolean
  readonly emitTraces: boolean
  readonly rawResponse: boolean
  readonly allowGetInvocation: boolean
  readonly forwardLogs: boolean
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

/** A plugin of the configuration file. */
export interface PluginConfig {
  readonly id: string
  /** As the file names it. */
  readonly path: string
  /** The absolute path of the code; absent if another host runs it (`RELAYER_PLUGINS_URL`). */
  readonly file?: string | undefined
  readonly settings: PluginSettings
  /** The rights of its API key. */
  readonly rights: Rights
  /** The whole environment of its process, secrets included. */
  readonly env: Readonly<Record<string, string>>
  readonly memoryMb: number
  /** The short path at which it can be called too; absent if it has none. */
  readonly mount?: PluginMount | undefined
  /** The request headers that it sees, in lower case. */
  readonly forwardHeaders: readonly string[]
  /** It also sees the text of the body, e.g. to check a signature of it. */
  readonly rawBody: boolean
  readonly hooks: PluginHooks
}

/** A path of its own for a plugin. */
export interface PluginMount {
  /** The first segment of the path: `x402` for `/x402/settle`. */
  readonly name: string
  /** Callers need no API key. */
  readonly isOpen: boolean
  /** The origins whose pages may call it; `*` is every page. */
  readonly corsOrigins: readonly string[]
  /** Absent if it accepts no WebSockets. */
  readonly sockets?: PluginSockets | undefined
}

/** The WebSockets of a plugin. */
export interface PluginSockets {
  /** The rest of the path, without a slash at its beginning: `ws` for `/x402/ws`. */
  readonly path: string
  /** The query parameter that may carry the API key; absent: only the header counts. */
  readonly keyParameter?: string | undefined
  /** The most open ones of all callers. */
  readonly max: number
  /** The most open ones of one API key, or of one address without a key. */
  readonly maxPerCaller: number
}

/** The most open WebSockets where the entry of a plugin does not say otherwise. */
export const DEFAULT_SOCKETS = { path: 'ws', max: 1_000, maxPerCaller: 100 } as const

/** The user of the processes of plugins on Linux. */
export interface PluginUser {
  readonly uid: number
  readonly gid: number
}

/** The exported function that callers call. Every other one is a hook, or for WebSockets. */
export const HANDLER = 'handler'

/** The first segments of paths that the service itself has. */
export const RESERVED_MOUNTS: readonly string[] = [
  'api',
  'auth',
  'console',
  'debug',
  'docs',
  'health',
  'metrics',
]

/** The address of another host that runs the plugins: `relayer plugins serve`. */
export interface PluginHostAddress {
  /** A `ws:` or `wss:` url. */
  readonly url: string
  readonly secret: string
}

/** The defaults of OpenZeppelin Relayer, which files of existing deployments rely on. */
export const DEFAULT_SETTINGS: PluginSettings = {
  timeout: 300,
  emitLogs: false,
  emitTraces: false,
  rawResponse: false,
  allowGetInvocation: false,
  forwardLogs: false,
}

/** The scopes that `api.useRelayer` of existing plugins needs. */
export const DEFAULT_SCOPES = [
  'relayers:read',
  'transactions:read',
  'transactions:write',
  'sign',
  'rpc',
] as const satisfies Rights['scopes']

/** Seconds. A longer call would outlive every proxy in front of the service. */
export const MAX_TIMEOUT = 3_600

/** MiB of heap. A plugin with the Stellar SDK needs about 60. */
export const DEFAULT_MEMORY_MB = 128

/** Bytes of the body of a call, and of a result. Both are in memory several times. */
export const MAX_PARAMS_BYTES = 256 * 1024
export const MAX_RESULT_BYTES = 4 * 1024 * 1024

/** Plugins that call plugins: a call at this depth is refused, so a plugin that calls itself ends. */
export const MAX_DEPTH = 4

/** The header that counts the depth. A caller who sends it can only reduce what is left. */
export const DEPTH_HEADER = 'x-relayer-plugin-depth'

/** Returns JSON whose integers beyond 2^53 are decimal digits, as plugins get them. */
export function withoutBigints(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(withoutBigints)
  return typeof value === 'object' && value !== null ? mapFields(value, withoutBigints) : value
}

/** Gives the id of the API key of a plugin. */
export function keyIdOf(pluginId: string): string {
  return KEYS_OF_PLUGINS + pluginId
}

/** Characters of the id of a plugin: the id of its key has at most 100. */
export const MAX_ID_LENGTH = 90
