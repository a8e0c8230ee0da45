import type { BroadcastResult, EndpointReport } from './answer.ts'
import type { RpcReply } from './rpc/rpc.ts'

/** Endpoints that take signed bytes and keep them from the public pool. */
export interface PrivateBroadcast {
  /**
   * Sends the transactions in this order to every private endpoint, and asks these nothing else. Returns the results in the same order; none
   * of them ends an attempt for good, because these endpoints are not nodes and may refuse for reasons of their own.
   */
  broadcast(raws: readonly Uint8Array[]): Promise<BroadcastResult[]>
  /** Passes transactions of API callers on, as `eth_sendRawTransaction`. Returns the replies in the same order. */
  forward(raws: readonly string[]): Promise<RpcReply[]>
  /** The state of each private endpoint, as far as it was asked. */
  endpoints(): EndpointReport[]
}
