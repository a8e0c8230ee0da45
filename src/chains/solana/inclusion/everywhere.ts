import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'

/** What one endpoint answered. */
export interface EndpointReplies {
  readonly url: string
  readonly replies: readonly EndpointReply[]
}

/** As `sendEverywhere`, with the name of each endpoint: what one of them answers to two questions may be put together. */
export async function askEverywhere(
  client: PooledClient,
  calls: readonly RpcCall[],
  asOf?: bigint,
): Promise<readonly EndpointReplies[]> {
  const answers = await client.sendEverywhere(calls, asOf)
  return client.states().map(({ url }, index) => ({ url, replies: answers[index] ?? [] }))
}
