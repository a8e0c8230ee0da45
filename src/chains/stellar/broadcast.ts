import { TransactionEnvelope } from '@stellar/stellar-sdk/xdr'
import type { Answer, BroadcastResult } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { readNonces } from './accounts.ts'
import { readSent, type Sent } from './failures.ts'
import { underlying } from './strkey.ts'

/** Hands signed envelopes to a node, in the order given; the results are in the same order. */
export async function broadcastAll(
  client: PooledClient,
  raws: readonly Uint8Array[],
): Promise<BroadcastResult[]> {
  const calls = raws.map((raw) => ({
    method: 'sendTransaction',
    params: { transaction: Buffer.from(raw).toString('base64') },
  }))
  const sent = (await client.send(calls)).map(readSent)
  return settleSequences(client, raws, sent)
}

/**
 * txBAD_SEQ says of both sides only that the number is not the next one. The account tells: it is past the number, so
 * something with it is included; or it is not there yet. Unknown is never "used" (I6).
 */
async function settleSequences(
  client: PooledClient,
  raws: readonly Uint8Array[],
  sent: readonly Sent[],
): Promise<BroadcastResult[]> {
  const places = new Map(
    [...sent.keys()]
      .filter((index) => sent[index]?.kind === 'sequence')
      .map((index) => [index, placeOf(raws[index] ?? new Uint8Array())]),
  )
  if (places.size === 0) return sent.map((one) => resolve(one, undefined, 0n))
  const sources = [...new Set([...places.values()].map(({ source }) => source))]
  const answers = await readNonces(client, sources)
  const next = new Map(sources.map((source, index) => [source, answers[index]]))
  return sent.map((one, index) => {
    const place = places.get(index)
    return resolve(one, next.get(place?.source ?? ''), place?.sequence ?? 0n)
  })
}

function resolve(sent: Sent, next: Answer<bigint> | undefined, sequence: bigint): BroadcastResult {
  if (sent.kind !== 'sequence') return sent
  const used = next?.kind === 'ok' && next.value > sequence
  return { kind: used ? 'nonce_used' : 'later', detail: sent.detail }
}

/** Whose sequence number the bytes take, which is not the fee source of a fee bump. */
function placeOf(raw: Uint8Array): { readonly source: string; readonly sequence: bigint } {
  const envelope = TransactionEnvelope.fromXdr(raw)
  if (envelope.type === 'envelopeTypeTxV0') throw new Error('envelopes of version 0 are never signed here')
  const { tx } = envelope.type === 'envelopeTypeTx' ? envelope.v1 : envelope.feeBump.tx.innerTx.v1
  return { source: underlying(tx.sourceAccount), sequence: tx.seqNum }
}
