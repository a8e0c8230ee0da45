import type { SolanaNetwork } from '../../networks/network.ts'
import type { Answer } from '../answer.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { askEverywhere } from './inclusion/everywhere.ts'
import { HISTORY_CALLS, type HistoryRecord } from './inclusion/history.ts'
import { resultOf } from './read/replies.ts'

/** The question for the hash of the first block. The result is the hash itself. */
export const GENESIS: RpcCall = { method: 'getGenesisHash', params: [] }

/**
 * Refuses when an endpoint serves another cluster than the configured one, where that is known. A signed transaction does not name its
 * network, only its blockhash does, so an endpoint of another cluster would report other accounts. The call also notes which endpoints keep
 * old transactions.
 */
export async function verifyEndpoints(
  client: PooledClient,
  network: SolanaNetwork,
  history: HistoryRecord,
): Promise<Answer<void>> {
  const endpoints = await askEverywhere(client, [GENESIS, ...HISTORY_CALLS])
  for (const { url, replies: told } of endpoints) history.note(url, told.slice(1))
  const everywhere = endpoints.flatMap(({ replies: [genesis] }) => genesis?.reply ?? [])
  const answered = everywhere.some(({ kind }) => kind !== 'unknown')
  // All endpoints rest, so the one that may be asked as a last resort decides.
  const replies = answered ? everywhere : await client.send([GENESIS])
  const answers = replies.map((reply) => compare(reply, network))
  return (
    answers.find(({ kind }) => kind === 'refused') ??
    answers.find(({ kind }) => kind === 'ok') ??
    answers[0] ?? { kind: 'unknown', detail: 'no endpoint answers' }
  )
}

function compare(reply: RpcReply, { name, genesisHash }: SolanaNetwork): Answer<void> {
  const result = resultOf(reply)
  if (result.kind !== 'ok') return result
  if (typeof result.value !== 'string')
    return { kind: 'unknown', detail: 'the endpoint did not answer with a genesis hash' }
  if (genesisHash === undefined || result.value === genesisHash) return { kind: 'ok', value: undefined }
  const detail = `network ${name}: the genesis hash ${genesisHash} is expected, but its endpoint serves ${result.value}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
