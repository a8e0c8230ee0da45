import type { PlacedReply, PooledClient, RpcCall } from '../rpc/rpc.ts'

/** What one endpoint answered. */
export interface EndpointReplies {
  readonly url: string
  readonly replies: readonly PlacedReply[]
}

/** The answers of all endpoints that were asked, and whether those are all that there are. */
export interface EverywhereReplies {
  readonly endpoints: readonly EndpointReplies[]
  readonly everyone: boolean
}

/**
 * As `sendEverywhere`, with the name of each endpoint: what one of them answers to two questions may be put together. Those that rest
 * are not asked.
 */
export async function askEverywhere(
  client: PooledClient,
  calls: readonly RpcCall[],
  asOf?: bigint,
): Promise<EverywhereReplies> {
  const states = client.states()
  const awake = states.filter(({ restsUntil }) => restsUntil === undefined)
  const answers = await client.sendEverywhere(calls, asOf)
  // The rest of one ended between the two lines: nobody can say whose answer is whose.
  if (answers.length !== awake.length) return { endpoints: [], everyone: false }
  const endpoints = awake.map(({ url }, index) => ({ url, replies: answers[index] ?? [] }))
  return { endpoints, everyone: awake.length === states.length }
}
