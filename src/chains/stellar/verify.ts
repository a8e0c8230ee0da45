import type { StellarNetwork } from '../../networks/network.ts'
import type { Answer } from '../answer.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { fieldsOf } from './read/replies.ts'

const NETWORK: RpcCall = { method: 'getNetwork', params: {} }

/**
 * Refuses when an endpoint serves another network than the configured one. Every signature is for one network's passphrase, so another
 * network would refuse the bytes, and its endpoint would answer with wrong sequence numbers.
 */
export async function verifyPassphrase(client: PooledClient, network: StellarNetwork): Promise<Answer<void>> {
  const everywhere = (await client.sendEverywhere([NETWORK])).flatMap((replies) =>
    replies.map(({ reply }) => reply),
  )
  // All endpoints rest, so the one that may be asked as a last resort decides.
  const answered = everywhere.some(({ kind }) => kind !== 'unknown')
  const replies = answered ? everywhere : await client.send([NETWORK])
  const answers = replies.map((reply) => compare(reply, network))
  return (
    answers.find(({ kind }) => kind === 'refused') ??
    answers.find(({ kind }) => kind === 'ok') ??
    answers[0] ?? { kind: 'unknown', detail: 'no endpoint answers' }
  )
}

function compare(reply: RpcReply, { name, passphrase }: StellarNetwork): Answer<void> {
  const fields = fieldsOf(reply)
  if (fields.kind !== 'ok') return fields
  const { passphrase: served } = fields.value
  if (typeof served !== 'string') {
    return { kind: 'unknown', detail: 'the endpoint did not answer with a passphrase' }
  }
  if (served === passphrase) return { kind: 'ok', value: undefined }
  const detail = `network ${name}: the passphrase "${passphrase}" is configured, but its endpoint serves "${served}".`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
