import type { EndpointState, Failure } from '../../networks/endpoints.ts'
import type { SeenHead } from '../../networks/head-age.ts'

/** One JSON-RPC 2.0 call, with its parameters by position or by name, as the chain's nodes expect them. */
export interface RpcCall {
  readonly method: string
  /** The parameters; an API caller may leave them out for a method without parameters. */
  readonly params?: RpcParams
}

export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>>

/**
 * The reply to a call. `error` is the node's own answer and reliable; `unknown` means that the call may have
 * had an effect: a time-out, a broken connection, an unreadable body, HTTP 429 or 5xx without a JSON-RPC
 * reply, a rate limit.
 */
export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | {
      readonly kind: 'unknown'
      readonly detail: string
      /** The endpoint answered more than the service reads. */
      readonly tooLarge?: true
    }

/** Calls one endpoint of the network, and the next one if it does not answer. */
export interface RpcClient {
  /** Sends the calls and returns the replies in the same order. Never rejects. */
  send(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** Sends one call, in one HTTP request with all calls of the same turn of the event loop. */
  call(method: string, params: RpcParams): Promise<RpcReply>
}

/** A reply, and the freshness of the endpoint that gave it. */
export interface EndpointReply {
  readonly reply: RpcReply
  /**
   * The endpoint lags, or did not report its height. A transaction that it does not know may still exist
   * (I6).
   */
  readonly behind: boolean
  /** The height that the endpoint reported with this reply; absent if it reported none, or was not asked. */
  readonly head?: bigint
  /** The node could not answer the call, and another endpoint may. */
  readonly elsewhere?: true
  /** An endpoint did not answer, and may have executed the call. */
  readonly unanswered?: true
}

/** A client that also returns the height behind a reply. */
export interface PooledClient extends RpcClient {
  /**
   * Sends like `send`, to an endpoint that has reached the block `asOf`; default: the highest block that an
   * endpoint reported lately. Each batch contains the question for the height. When no endpoint is that far,
   * the replies are `behind`.
   */
  sendAsOf(calls: readonly RpcCall[], asOf?: bigint): Promise<EndpointReply[]>
  /**
   * Calls every endpoint once and returns the replies of each, in the order of the configuration. A paused
   * endpoint is not called: its replies are `unknown`, because its knowledge may contradict the others.
   * `behind` refers to `asOf`. With `enough`, the call returns as soon as the replies so far are enough, or a
   * moment after the first; those of slower endpoints are `unknown` then.
   */
  sendEverywhere(
    calls: readonly RpcCall[],
    asOf?: bigint,
    enough?: (answered: readonly (readonly EndpointReply[])[]) => boolean,
  ): Promise<readonly (readonly EndpointReply[])[]>
  /**
   * Sends calls of API callers like `send`. Numbers in replies keep their spelling: the service writes the
   * replies out again and does not read them.
   */
  forward(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** Sends like `send`, and says which calls an endpoint may have executed without a reply (`unanswered`). */
  broadcast(calls: readonly RpcCall[]): Promise<EndpointReply[]>
  /** Returns the state of each endpoint. Urls are whole: mask them before you show them. */
  states(): EndpointState[]
  /**
   * Returns the newest head that the endpoints reported; undefined before the first reply. It queries no
   * node.
   */
  seenHead(): SeenHead | undefined
}

/** The calls whose errors the service reads by their text. */
export type TextContext = 'broadcast' | 'estimate'

/** Receives a report of every HTTP request to an endpoint of one network. Must not throw. */
export interface RpcObserver {
  asked(request: {
    /** The host of the endpoint, with its port and without the rest of the url, which may contain a key. */
    readonly host: string
    /** The method of each call in the request. */
    readonly methods: readonly string[]
    readonly seconds: number
    /** The failure of the endpoint; absent if it sent any reply. */
    readonly failure?: Failure['kind'] | 'batch_refused' | 'answer_too_large' | undefined
  }): void
  /** A node has answered such a call with an error whose text the service does not know. */
  unknownText?(context: TextContext): void
}
