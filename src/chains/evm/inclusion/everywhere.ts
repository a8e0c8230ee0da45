import { classifyNodeError } from '../../rpc/node-errors.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { NODE_DIALECT } from '../node-dialect.ts'

/** What one endpoint answered to all calls of a question. */
export interface EndpointReplies {
  /** It has not reached the block that was demanded, or did not tell. What it does not know of may exist all the same (I6). */
  readonly behind: boolean
  /** In the order of the calls. */
  readonly replies: readonly RpcReply[]
}

export interface AskedEverywhere {
  readonly endpoints: readonly EndpointReplies[]
  /** Whether there is no endpoint at all. */
  readonly incomplete: boolean
}

/**
 * Asks every endpoint of the network the same; `behind` is against the block `asOf`, or the highest that any endpoint told of lately.
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

const NO_REPLY: RpcReply = { kind: 'unknown', detail: 'no reply' }

/**
 * Errors by which a node says that it cannot tell now and will be able to: geth while it builds its index of transactions
 * (`internal/ethapi/errors.go`), any node while it is syncing.
 */
const PASSING =
  /index(ing)? (is )?in progress|not (yet )?(been )?(fully )?indexed|syncing|timed? ?out|timeout|header not found/i

/**
 * Whether the node itself answered, and will go on answering the same: silence, trouble at the endpoint and an index that is being
 * built are none of it.
 */
export function isDefinitive(reply: RpcReply): boolean {
  if (reply.kind !== 'error') return reply.kind === 'result'
  const errorClass = classifyNodeError(reply, NODE_DIALECT.errors)
  return !PASSING.test(reply.message) && errorClass !== 'endpoint_failure' && errorClass !== 'rate_limit'
}
