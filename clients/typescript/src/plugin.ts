/**
 * What a plugin of the relayer gets, and what it may throw. A plugin exports a function of one parameter:
 *
 * ```ts
 * export async function handler({ api, params }: PluginContext<{ to: string }>) {
 *   const sent = await api.useRelayer('local-1').sendTransaction({ to: params.to, value: '1', speed: 'fast' })
 *   return { id: sent.id }
 * }
 * ```
 */

import type { RelayerEvent } from './events/follow.ts'

export type { RelayerEvent }

/** What a call hands over to the handler of a plugin. */
export interface PluginContext<Params = unknown, Config = Readonly<Record<string, unknown>>> {
  /** The API of the relayer, with the API key of the plugin. */
  readonly api: PluginApi
  /** The field `params` of the body, or the body. Integers beyond 2^53 are decimal strings. */
  readonly params: Params
  /** Values and locks, shared by every process of the service. */
  readonly kv: PluginStore
  /** The headers that the operator lists, by lower-case name. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  /** The rest of the path after `/call`, with a leading slash, or the query parameter `route`; empty if there is neither. */
  readonly route: string
  readonly method: 'GET' | 'POST'
  readonly query: Readonly<Record<string, readonly string[]>>
  /** The field `config` of the plugin's entry, as callers may have changed it. */
  readonly config?: Config
  /** The body as it arrived, if the entry of the plugin has `raw_body`: for signatures of it. */
  readonly body?: string
}

/**
 * What the functions for WebSockets get: `on_socket_open` with an empty object, `on_socket_message` with a {@link SocketMessage} and
 * `on_socket_close` with a {@link SocketEnd} as `params`. Those of one socket run one after another.
 *
 * ```ts
 * export async function on_socket_message({ socket, params }: PluginSocketContext<SocketMessage>) {
 *   socket.send(params.data)
 * }
 * ```
 */
export interface PluginSocketContext<Params = unknown, Config = Readonly<Record<string, unknown>>>
  extends PluginContext<Params, Config> {
  /** The socket, which is the same object in every call about it. */
  readonly socket: PluginSocket
}

/** A WebSocket of a caller. It can be kept, and used outside of calls. */
export interface PluginSocket {
  /** Unique within the process of the plugin. */
  readonly id: string
  readonly isOpen: boolean
  /** Sends a text of at most 1 Mi characters. A closed socket ignores it; one whose caller does not read is ended. */
  send(text: string): void
  /** Closes the socket. The code is 1000, or 3000 to 4999, and the reason has at most 123 bytes. */
  close(code?: number, reason?: string): void
}

/** The parameter of `on_socket_message`. */
export interface SocketMessage {
  /** A text of at most 64 KiB. */
  readonly data: string
}

/** The parameter of `on_socket_close`. */
export interface SocketEnd {
  /** 1006 if the connection ended without a closing frame. */
  readonly code: number
  readonly reason: string
}

/** The API of the relayer. A refusal rejects with an error that has `message`, `code` and `status`. */
export interface PluginApi {
  useRelayer(id: string): PluginRelayer
  transactionWait(transaction: PluginTransaction, options?: PluginWaitOptions): Promise<PluginTransaction>
  /** Calls any operation of the contract, which the scopes of the plugin allow. A failure is an answer, and does not reject. */
  request(request: PluginRequest): Promise<{ readonly status: number; readonly body: unknown }>
}

/** One request to the API. */
export interface PluginRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Begins with `/api/v1/`. */
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  /** The user for whom the request is. What it spends counts against the `user_limits` of the plugin's rules. */
  readonly userId?: string
}

/** One relayer that the plugin sees. Bodies and results are those of the operations of the contract. */
export interface PluginRelayer {
  /** Sends a transaction. With the same `idempotencyKey` and body, it is sent once, however often this is called. */
  sendTransaction(
    transaction: object,
    options?: Pick<PluginRequest, 'idempotencyKey' | 'userId'>,
  ): Promise<PluginTransaction & { wait(options?: PluginWaitOptions): Promise<PluginTransaction> }>
  getTransaction(of: { readonly transactionId: string }): Promise<PluginTransaction>
  getRelayer(): Promise<Readonly<Record<string, unknown>> & { readonly id: string; readonly address: string }>
  getRelayerStatus(): Promise<Readonly<Record<string, unknown>>>
  signTransaction(
    transaction: object,
    options?: Pick<PluginRequest, 'userId'>,
  ): Promise<Readonly<Record<string, unknown>>>
  /** Asks a node of the relayer's network. An error of the node is part of the result. */
  rpc(request: object): Promise<{ readonly result?: unknown; readonly error?: unknown }>
}

/** A transaction, with all the fields that the contract gives it. */
export interface PluginTransaction {
  readonly id: string
  readonly relayer_id: string
  readonly status: string
  readonly hash?: string
  readonly [field: string]: unknown
}

/** How long to wait for a transaction. */
export interface PluginWaitOptions {
  /** Milliseconds. Default: 60,000. Then the wait rejects with the code `WAIT_TIMEOUT`; the transaction goes on. */
  readonly timeout?: number
}

/** The store of a plugin. Keys have 1 to 512 letters, digits, `:`, `.`, `_` or `-`; values are JSON of at most 256 KiB. */
export interface PluginStore {
  /** Returns null for an absent key. */
  get<T = unknown>(key: string): Promise<T | null>
  set(key: string, value: unknown, options?: { readonly ttlSec?: number }): Promise<boolean>
  /** Returns whether the key existed. */
  del(key: string): Promise<boolean>
  exists(key: string): Promise<boolean>
  /** Lists keys in order. `*` stands for any characters and `?` for one. */
  listKeys(pattern?: string): Promise<string[]>
  /** Removes every value, and returns their number. */
  clear(): Promise<number>
  /**
   * Runs work that no other call runs at the same time, in any process. The lock ends after `ttlSec` (30), even if the work does not. If
   * another call has it, this rejects with the code `LOCK_BUSY`, or returns null with `onBusy: 'skip'`.
   */
  withLock<T>(
    key: string,
    work: () => Promise<T>,
    options?: { readonly ttlSec?: number; readonly onBusy?: 'throw' | 'skip' },
  ): Promise<T | null>
}

/** What an error tells the caller besides its message. */
export interface PluginErrorOptions {
  /** A word for programs. */
  readonly code?: string
  /** The HTTP status, 400 to 599. Default: 500. */
  readonly status?: number
  /** Any JSON. */
  readonly details?: unknown
}

/** A failure that the caller of the plugin sees as it is. Of any other error, the caller sees only that there was one. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code: string | undefined
  readonly status: number | undefined
  readonly details: unknown

  constructor(message: string, options: PluginErrorOptions = {}) {
    super(message)
    this.code = options.code
    this.status = options.status
    this.details = options.details
  }
}

/** Makes an error for the caller: `throw pluginError('no such user', { code: 'UNKNOWN_USER', status: 404 })`. */
export function pluginError(message: string, options?: PluginErrorOptions): PluginError {
  return new PluginError(message, options)
}

/** The parameter of `before_send`: what a caller wants to send, or to have signed. */
export interface ProposedTransaction {
  readonly action: 'send' | 'replace' | 'sign_transaction' | 'sign_authorization'
  /** Nothing is accepted or signed, whatever the answer. */
  readonly dry_run: boolean
  readonly relayer_id: string
  readonly network_type: 'evm' | 'solana' | 'stellar'
  readonly network: string
  /** The address of the account. */
  readonly from: string
  readonly api_key_id: string
  /** The header `User-Id`. */
  readonly user_id?: string
  readonly request_id?: string
  /** The transaction that is replaced. */
  readonly transaction_id?: string
  readonly lane?: string
  /** The content, as the contract shows a transaction; absent if no transaction request can express what is signed. */
  readonly transaction?: Readonly<Record<string, unknown>>
  readonly effects: ProposedEffects
}

/** What content does to its sender, as far as its bytes show it. Addresses on EVM are in lower case. */
export interface ProposedEffects {
  /** The accounts that receive, and those that it allows to take. */
  readonly receivers: readonly string[]
  readonly contracts: readonly string[]
  /** EVM: the first four bytes of the data of a call. */
  readonly selectors: readonly string[]
  /** Stellar: the types of the operations. */
  readonly operations: readonly string[]
  /** Decimal strings in the smallest unit. The asset is `native`, or the address or name of a token. */
  readonly amounts: readonly { readonly asset: string; readonly value: string }[]
  /** The part of `amounts` that others may take later. */
  readonly allowances: readonly { readonly asset: string; readonly value: string }[]
  /** The calls whose effects cannot be read. */
  readonly unread: readonly { readonly target: string; readonly asset?: string }[]
}

/** The result of `before_send`. No result allows the request. */
export type BeforeSendDecision =
  | { readonly decision: 'allow' }
  | { readonly decision: 'refuse' | 'require_approval'; readonly reason: string }
  | null
  | undefined

/** The parameter of `schedule`. Times are RFC 3339. */
export interface ScheduledRun {
  readonly name: string
  readonly scheduled_at: string
  /** The number of times since `last_at` at which nothing ran; at most 1000. */
  readonly missed: number
  /** The time of the last run, or the begin of the schedule. */
  readonly last_at: string
}
