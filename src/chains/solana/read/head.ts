import type { Answer, Head } from '../../answer.ts'
import { askHead, askStatements } from '../../rpc/agreement.ts'
import type { HeightQuestion } from '../../rpc/node-dialect.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import type { BlockHeight, Slot } from '../content.ts'
import { fieldsOf, readHeight, readSlot, resultOf, TOLERATED_SLOTS } from './replies.ts'

/** Reads the finalized slot and its height, which does not count slots without a block. */
const FINALIZED: RpcCall = { method: 'getEpochInfo', params: [{ commitment: 'finalized' }] }

/** Reads the newest slot that the node has processed. */
const PROCESSED: RpcCall = { method: 'getSlot', params: [{ commitment: 'processed' }] }

/**
 * The question for the finalized slot of a node. No fork is below it, so a node that has reached a finalized
 * slot knows everything in the chain up to there, and its "none" is reliable.
 */
export const HEIGHT: HeightQuestion = {
  call: FINALIZED,
  read: (result) => readSlot(fieldsOf(result).absoluteSlot),
}

/** A finalized slot, and the height of its block. */
export interface Finalized {
  readonly slot: Slot
  readonly height: BlockHeight
}

/**
 * Reads the newest finalized slot and its height, of nodes that have reached `asOf`. Heights end the life of
 * transactions, so no endpoint alone decides how high the chain is: of two that differ, the lower one counts.
 */
export async function readFinalized(client: PooledClient, asOf = 0n): Promise<Answer<Finalized>> {
  const told = await askStatements(client, {
    calls: [FINALIZED],
    read: ([endpointReply]) => {
      const finalized = readFinalizedIn(endpointReply?.reply)
      return finalized.kind === 'ok' && finalized.value.slot < asOf ? NOT_REACHED : finalized
    },
    isSame: (one, other) => distance(one.height, other.height) <= TOLERATED_SLOTS,
    toleratedBlocks: TOLERATED_SLOTS,
  })
  if (told.kind !== 'ok') return told
  const [first, second] = told.value
    .map(({ value }) => value)
    .toSorted((one, other) => (one.height > other.height ? -1 : 1))
  const counted = second ?? first
  return counted === undefined ? NOT_REACHED : { kind: 'ok', value: counted }
}

function readFinalizedIn(reply: RpcReply | undefined): Answer<Finalized> {
  const result = resultOf(reply)
  if (result.kind !== 'ok') return result
  const { absoluteSlot, blockHeight } = fieldsOf(result.value)
  const slot = readSlot(absoluteSlot)
  const height = readHeight(blockHeight)
  return slot === undefined || height === undefined ? NOT_REACHED : { kind: 'ok', value: { slot, height } }
}

const NOT_REACHED = {
  kind: 'unknown',
  detail: 'no endpoint has reached the newest known finalized slot',
} as const

function distance(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one
}

/**
 * Reads the newest finalized slot and the finalized height, by which blockhashes expire. The hash changes
 * with the newest slot as well, so that transactions that are not final are checked again at each slot.
 */
export function readHead(client: PooledClient): Promise<Answer<Head>> {
  return askHead(client, {
    calls: [FINALIZED, PROCESSED],
    read: readHeadIn,
    aheadBlocks: TOLERATED_SLOTS,
  })
}

function readHeadIn([finalized, processed]: readonly EndpointReply[]): Answer<Head> {
  const result = resultOf(finalized?.reply)
  const newest = resultOf(processed?.reply)
  if (result.kind !== 'ok') return result
  if (newest.kind !== 'ok') return newest
  const { absoluteSlot, blockHeight } = fieldsOf(result.value)
  const number = readSlot(absoluteSlot)
  const expiredUpTo = readHeight(blockHeight)
  const slot = readSlot(newest.value)
  if (number === undefined || expiredUpTo === undefined || slot === undefined) {
    return { kind: 'unknown', detail: 'the endpoint did not return its slot' }
  }
  return { kind: 'ok', value: { number, hash: `${number}/${slot}`, expiredUpTo } }
}

/**
 * Returns a substitute for the hash of a block: a slot has at most one block, and transactions of dropped
 * forks are found by signature.
 */
export function blockHashOf(slot: Slot): string {
  return slot.toString()
}
