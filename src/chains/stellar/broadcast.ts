import { type Transaction, TransactionEnvelope } from '@stellar/stellar-sdk/xdr'
import type { Answer, BroadcastResult } from '../answer.ts'
import { confirmRefusals } from '../confirm-refusals.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { markUnanswered } from '../unanswered.ts'
import { reportUnclear, type UnknownTexts } from '../unknown-texts.ts'
import { readSent, type Sent } from './failures.ts'
import { resourceFeeOf } from './model/envelope.ts'
import { underlying } from './model/strkey.ts'
import type { MarketWatch } from './prepare/market.ts'
import { isSorobanTransaction } from './prepare/soroban.ts'
import { readNonces } from './read/accounts.ts'

interface BroadcastTerms {
  /** Tells for each envelope, in the same order, that a queue may hold another one with its sequence number. */
  readonly mayBeInPool?: readonly boolean[] | undefined
  readonly sawMinimum: MarketWatch['sawMinimum']
  readonly unknownTexts: UnknownTexts
}

/**
 * Sends signed envelopes to a node in this order and returns the results in the same order. `sawMinimum` receives the prices that a full
 * queue demands. The price of a replacement is ten times that of the queued transaction (stellar-core `canReplaceByFee`) and says nothing
 * about the market.
 */
export async function broadcastAll(
  client: PooledClient,
  raws: readonly Uint8Array[],
  { mayBeInPool = [], sawMinimum, unknownTexts }: BroadcastTerms,
): Promise<BroadcastResult[]> {
  const calls = raws.map((raw) => ({
    method: 'sendTransaction',
    params: { transaction: Buffer.from(raw).toString('base64') },
  }))
  const replies = await client.broadcast(calls)
  const sent = replies.map(({ reply, unanswered }) => {
    const read = readSent(reply)
    return read.kind === 'sequence' ? read : markUnanswered(read, unanswered)
  })
  reportUnclear(unknownTexts, sent)
  for (const [index, one] of sent.entries()) {
    if (one.kind === 'underpriced' && one.minimum !== undefined && mayBeInPool[index] !== true)
      tellMinimum(raws[index] ?? new Uint8Array(), one.minimum, sawMinimum)
  }
  const results = await settleSequences(client, raws, sent)
  return confirmRefusals(client, { calls, results, read: readSent })
}

/** A node names a whole fee for an envelope; a fee bump counts one operation more (CAP-15). */
function tellMinimum(raw: Uint8Array, fee: bigint, sawMinimum: MarketWatch['sawMinimum']): void {
  const { tx, bumped } = openRaw(raw)
  const count = BigInt(tx.operations.length + (bumped ? 1 : 0))
  const inclusion = fee - resourceFeeOf(tx)
  sawMinimum((inclusion + count - 1n) / count, isSorobanTransaction(tx) ? 'soroban' : 'classic')
}

/**
 * The code txBAD_SEQ only tells that the number is not the next one. The account decides: it is past the number, so a transaction with it
 * is included; or it has not reached the number yet. Unknown is never "used" (I6).
 */
async function settleSequences(
  client: PooledClient,
  raws: readonly Uint8Array[],
  sent: readonly Sent[],
): Promise<BroadcastResult[]> {
  const numberings = new Map(
    [...sent.keys()]
      .filter((index) => sent[index]?.kind === 'sequence')
      .map((index) => [index, numberingOf(raws[index] ?? new Uint8Array())]),
  )
  if (numberings.size === 0) return sent.map((one) => resolve(one, undefined, 0n))
  const sources = [...new Set([...numberings.values()].map(({ source }) => source))]
  const answers = await readNonces(client, sources)
  const next = new Map(sources.map((source, index) => [source, answers[index]]))
  return sent.map((one, index) => {
    const numbered = numberings.get(index)
    return resolve(one, next.get(numbered?.source ?? ''), numbered?.sequence ?? 0n)
  })
}

function resolve(sent: Sent, next: Answer<bigint> | undefined, sequence: bigint): BroadcastResult {
  if (sent.kind !== 'sequence') return sent
  const used = next?.kind === 'ok' && next.value > sequence
  return { kind: used ? 'nonce_used' : 'later', detail: sent.detail }
}

/** Returns the account and sequence number that the bytes use, which are not those of a fee bump's payer. */
function numberingOf(raw: Uint8Array): { readonly source: string; readonly sequence: bigint } {
  const { tx } = openRaw(raw)
  return { source: underlying(tx.sourceAccount), sequence: tx.seqNum }
}

function openRaw(raw: Uint8Array): { readonly tx: Transaction; readonly bumped: boolean } {
  const envelope = TransactionEnvelope.fromXdr(raw)
  if (envelope.type === 'envelopeTypeTxV0') throw new Error('envelopes of version 0 are never signed here')
  return envelope.type === 'envelopeTypeTx'
    ? { tx: envelope.v1.tx, bumped: false }
    : { tx: envelope.feeBump.tx.innerTx.v1.tx, bumped: true }
}
