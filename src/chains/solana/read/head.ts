import type { Answer, Head } from '../../answer.ts'
import type { HeightQuestion } from '../../rpc/node-dialect.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { fieldsOf, readInteger, resultOf } from './replies.ts'

/** How far the finalized chain is: its slot, and its height, which does not count slots without a block. */
const FINALIZED: RpcCall = { method: 'getEpochInfo', params: [{ commitment: 'finalized' }] }

/** The newest slot that the node has worked through. */
const PROCESSED: RpcCall = { method: 'getSlot', params: [{ commitment: 'processed' }] }

/**
 * How far a node is, by what is finalized: no fork is below it, so a node that has come to a finalized slot knows everything
 * that the chain holds up to there, and "none" is the chain's own word.
 */
export const HEIGHT: HeightQuestion = {
  call: FINALIZED,
  read: (result) => readInteger(fieldsOf(result).absoluteSlot),
}

/** A finalized slot, and the height of its block. */
export interface Finalized {
  readonly slot: bigint
  readonly height: bigint
}

/** The newest finalized slot of a node that has come to `asOf`. */
export async function readFinalized(client: PooledClient, asOf?: bigint): Promise<Answer<Finalized>> {
  const [endpointReply] = await client.sendAsOf([FINALIZED], asOf)
  const result = resultOf(endpointReply?.reply)
  if (result.kind !== 'ok') return result
  const { absoluteSlot, blockHeight } = fieldsOf(result.value)
  const slot = readInteger(absoluteSlot)
  const height = readInteger(blockHeight)
  return endpointReply?.behind === false && slot !== undefined && height !== undefined && slot >= (asOf ?? 0n)
    ? { kind: 'ok', value: { slot, height } }
    : { kind: 'unknown', detail: 'no endpoint has come to the newest finalized slot that is known' }
}

/**
 * The newest finalized slot, with the finalized height, which is what blockhashes lapse by. The hash changes with the newest
 * slot as well: what is not final yet is looked at again at each.
 */
export async function readHead(client: PooledClient): Promise<Answer<Head>> {
  const [finalized, processed] = await client.sendAsOf([FINALIZED, PROCESSED])
  const result = resultOf(finalized?.reply)
  const newest = resultOf(processed?.reply)
  if (result.kind !== 'ok') return result
  if (newest.kind !== 'ok') return newest
  const { absoluteSlot, blockHeight } = fieldsOf(result.value)
  const number = readInteger(absoluteSlot)
  const expiredUpTo = readInteger(blockHeight)
  const slot = readInteger(newest.value)
  if (number === undefined || expiredUpTo === undefined || slot === undefined) {
    return { kind: 'unknown', detail: 'the endpoint did not tell its slot' }
  }
  return { kind: 'ok', value: { number, hash: `${number}/${slot}`, expiredUpTo } }
}

/** Stands for the hash of a block: a slot has one block at most, and what a fork drops is asked for by signature. */
export function blockHashOf(slot: bigint): string {
  return slot.toString()
}
