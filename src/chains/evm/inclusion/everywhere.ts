import { NO_REPLY } from '../../answer.ts'
import { classifyNodeError } from '../../rpc/node-dialect.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { NODE_DIALECT } from '../read/node-dialect.ts'

/** The replies of one endpoint to all calls of a question. */
export interface EndpointReplies {
  /**
   * The endpoint has not reached the required block, or did not report its height. A transaction that it does
   * not know may still exist (I6).
   */
  readonly behind: boolean
  /** In the order of the calls. */
  readonly replies: readonly RpcReply[]
}

export interface AskedEverywhere {
  readonly endpoints: readonly EndpointReplies[]
  /** The network has no endpoint at all. */
  readonly incomplete: boolean
}

/**
 * Sends the same calls to every endpoint of the network; `behind` refers to the block `asOf`, or to the
 * highest block that an endpoint reported recently.
 */
export async function askEverywhere(
  client: Pick<PooledClient, 'sendEverywhere'>,
  calls: readonly RpcCall[],
  asOf?: bigint,
): Promise<AskedEverywhere> {
  const answers = await client.sendEverywhere(calls, asOf)
  return {
    endpoints: answers.map((endpointReplies) => ({
      behind: endpointReplies.some(({ behind }) => behind),
      replies: calls.map((_, index) => endpointReplies[index]?.reply ?? NO_REPLY),
    })),
    incomplete: answers.length === 0,
  }
}

/**
 * Errors of a node that cannot answer now but will later: geth while it builds its index of transactions
 * (`internal/ethapi/errors.go`), any node while it is syncing.
 */
const PASSING =
  /index(ing)? (is )?in progress|not (yet )?(been )?(fully )?indexed|syncing|timed? ?out|timeout|header not found/i

/**
 * Returns true if the node itself answered and would answer the same again: not for silence, for a failing
 * endpoint, or for an index that is being built.
 */
export function isDefinitive(reply: RpcReply): boolean {
  if (reply.kind !== 'error') return reply.kind === 'result'
  const errorClass = classifyNodeError(reply, NODE_DIALECT.errors)
  return !PASSING.test(reply.message) && errorClass !== 'endpoint_failure' && errorClass !== 'rate_limit'
}
