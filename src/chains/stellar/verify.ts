import type { StellarNetwork } from '../../networks/network.ts'
import type { Answer } from '../answer.ts'
import type { PooledClient, RpcCall, RpcReply } from '../rpc/rpc.ts'
import { fieldsOf } from './read/replies.ts'

const NETWORK: RpcCall = { method: 'getNetwork', params: {} }

/**
 * Everything is signed for one network's passphrase, so bytes for another one would be refused; worse, an endpoint of another
 * network among several would answer with foreign sequence numbers. Each that answers has to serve the configured one.
 */
export async function verifyPassphrase(client: PooledClient, network: StellarNetwork): Promise<Answer<void>> {
  const everywhere = (await client.sendEverywhere([NETWORK])).flatMap((replies) =>
    replies.map(({ reply }) => reply),
  )
  // All of them resting: then the one that may be asked as a last resort.
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
