import type { EvmNetwork } from '../../networks/network.ts'
import type { Answer } from '../answer.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { readQuantity } from './quantity.ts'

const CHAIN_ID: RpcCall = { method: 'eth_chainId', params: [] }

/**
 * Refuses when an endpoint serves another chain than the configured one. A signature for another chain would be valid there (EIP-155), and
 * an endpoint of another chain would answer with wrong nonces.
 */
export async function verifyChainId(client: PooledClient, network: EvmNetwork): Promise<Answer<void>> {
  const everywhere = (await client.sendEverywhere([CHAIN_ID])).flatMap((replies) =>
    replies.map(({ reply }) => reply),
  )
  // All endpoints rest, so the one that may be asked as a last resort decides.
  const answered = everywhere.some(({ kind }) => kind !== 'unknown')
  const replies = answered ? everywhere : await client.send([CHAIN_ID])
  const answers = replies.map((reply) => compare(reply, network))
  return (
    answers.find(({ kind }) => kind === 'refused') ??
    answers.find(({ kind }) => kind === 'ok') ??
    answers[0] ?? { kind: 'unknown', detail: 'no endpoint answers' }
  )
}

function compare(reply: RpcReply, { name, chainId }: EvmNetwork): Answer<void> {
  if (reply.kind !== 'result') {
    return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
  }
  const served = readQuantity(reply.result)
  if (served === undefined) return { kind: 'unknown', detail: 'the endpoint did not answer with a chain id' }
  if (served === BigInt(chainId)) return { kind: 'ok', value: undefined }
  const detail = `network ${name}: chain_id ${chainId} is configured, but its endpoint serves chain ${served}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
