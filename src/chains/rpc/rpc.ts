import type { EndpointState } from '../../networks/endpoints.ts'

/** One JSON-RPC 2.0 call, with its parameters by place or by name, as the chain's nodes want them. */
export interface RpcCall {
  readonly method: string
  /** Absent for a method that takes none, where the caller left them out. */
  readonly params?: RpcParams
}

export type RpcParams = readonly unknown[] | Readonly<Record<string, unknown>>

/**
 * What came back. `error` is the node's own answer and may be relied on; `unknown` means that nobody can say whether the
 * call had an effect: a time-out, a broken connection, an unreadable body, HTTP 429 or 5xx, a rate limit.
 */
export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'unknown'; readonly detail: string }

/** Asks one endpoint of the network, and the next one when it does not answer. */
export interface RpcClient {
  /** Replies in the order of the calls. Never rejects. */
  send(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** One call, put into one HTTP request with everything else that is asked in the same turn of the event loop. */
  call(method: string, params: RpcParams): Promise<RpcReply>
}

/** A reply, and whether the endpoint that gave it had seen the block that was demanded. */
export interface EndpointReply {
  readonly reply: RpcReply
  /** `true`: the endpoint lags, or did not tell its height. What it does not know of may exist all the same (I6). */
  readonly behind: boolean
  /** The node could not answer the call, and another endpoint may. */
  readonly elsewhere?: true
}

/** A client that also tells from which height an answer comes. */
export interface PooledClient extends RpcClient {
  /**
   * As `send`, to an endpoint that has reached the block `asOf`; without it, the highest block that any endpoint told of
   * lately. Each batch carries the question for the height. Where no endpoint is that far, the replies are `behind`.
   */
  sendAsOf(calls: readonly RpcCall[], asOf?: bigint): Promise<EndpointReply[]>
  /**
   * Asks every endpoint once, and gives each one's replies, in the order of the configuration. One that rests is not asked: its
   * replies are `unknown`, because what it knows may contradict the others. `behind` is against `asOf`.
   */
  sendEverywhere(calls: readonly RpcCall[], asOf?: bigint): Promise<readonly (readonly EndpointReply[])[]>
  /** As `send`, for calls of others: numbers in replies are kept as they are spelled, to be written out again and not to be read. */
  forward(calls: readonly RpcCall[]): Promise<RpcReply[]>
  /** How the endpoints are doing. Urls are whole: mask them before they are shown. */
  states(): EndpointState[]
}
