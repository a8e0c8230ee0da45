import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'

/** The replies of one endpoint. */
export interface EndpointReplies {
  readonly url: string
  readonly replies: readonly EndpointReply[]
}

/** Asks like `sendEverywhere` and names each endpoint, so that its answers to two questions can be joined. */
export async function askEverywhere(
  client: PooledClient,
  calls: readonly RpcCall[],
  asOf?: bigint,
): Promise<readonly EndpointReplies[]> {
  const answers = await client.sendEverywhere(calls, asOf)
  return client.states().map(({ url }, index) => ({ url, replies: answers[index] ?? [] }))
}
