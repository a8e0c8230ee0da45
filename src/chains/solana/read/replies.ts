import { larger } from '../../../lib/bigint.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Answer, NO_REPLY } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcReply } from '../../rpc/rpc.ts'
import type { BlockHeight, Slot } from '../content.ts'

/** A value, and the slot whose state it was read from. */
interface Contextual {
  readonly slot: Slot
  readonly value: unknown
}

/** The answer of a node that has not reached the demanded slot, or did not report its slot. */
const BEHIND = { kind: 'unknown', detail: 'the endpoint is behind the newest known slot' } as const

/** Reads an integer from 0 that JSON has not rounded; undefined for anything else. */
export function readInteger(value: unknown): bigint | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
}

/** Reads a slot; undefined for anything else. */
export function readSlot(value: unknown): Slot | undefined {
  return readInteger(value) as Slot | undefined
}

/** Reads a height; undefined for anything else. */
export function readHeight(value: unknown): BlockHeight | undefined {
  return readInteger(value) as BlockHeight | undefined
}

/** Returns the fields of an object; none for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Returns the result of a reply; unknown when the node did not answer. */
export function resultOf(reply: RpcReply = NO_REPLY): Answer<unknown> {
  if (reply.kind === 'result') return { kind: 'ok', value: reply.result }
  return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
}

/** Reads `{ context: { slot }, value }`, the result of most methods; unknown for anything else. */
export function contextualOf(reply: RpcReply | undefined): Answer<Contextual> {
  const result = resultOf(reply)
  if (result.kind !== 'ok') return result
  const { context, value } = fieldsOf(result.value)
  const slot = readSlot(fieldsOf(context).slot)
  return slot === undefined || value === undefined
    ? { kind: 'unknown', detail: 'the endpoint answered without a slot' }
    : { kind: 'ok', value: { slot, value } }
}

/** Reads like `contextualOf`, but not from a node that is behind: for decisions that are final (I6). */
export function freshOf(endpointReply: EndpointReply | undefined): Answer<Contextual> {
  const answer = contextualOf(endpointReply?.reply)
  return answer.kind === 'ok' && endpointReply?.behind !== false ? BEHIND : answer
}

/**
 * A node may be this many slots behind the newest one, about six seconds, when its answer is not final.
 * Behind one url there are often many nodes, a few slots apart, and without tolerance half of their answers
 * would not count. Receipts and heads, which decide permanently, do not use it.
 */
export const TOLERATED_SLOTS = 16n as Slot

/** Returns the newest finalized slot that a healthy endpoint reported; 0 before the first. */
export function newestSlot(client: PooledClient): bigint {
  const heads = client.states().flatMap(({ head, healthy }) => (healthy && head !== undefined ? [head] : []))
  return heads.reduce(larger, 0n)
}

/** Returns the slot that a node must have finalized for its answers to be recent enough. */
export function recentSlot(client: PooledClient): bigint {
  const newest = newestSlot(client)
  return newest > TOLERATED_SLOTS ? newest - TOLERATED_SLOTS : 0n
}

/**
 * A thing that is still missing this many finalized slots after it was first missed is not only too new: a
 * node may be some seconds late, and a block that a client saw is finalized, or dropped, 32 slots later.
 */
const TOO_NEW_SLOTS = 64n

/** A thing that was missed this many slots ago counts as missed for the first time. */
const FORGOTTEN_SLOTS = 1_000n

/** The memory holds at most this many things and forgets the oldest first, whose time starts again. */
const MAX_REMEMBERED = 10_000

/**
 * Distinguishes things that do not exist from things that a node does not know yet: blockhashes, nonces and
 * tables that others have just created.
 */
export interface Timeouts {
  /** Notes that a thing is missing; returns true when it has been missing for too long to be only new. */
  isOver(what: string): boolean
}

/** Creates an empty memory. It counts the slots that endpoints report; a new process waits again. */
export function createTimeouts(client: PooledClient): Timeouts {
  const missedAt = new BoundedMap<string, bigint>(MAX_REMEMBERED)
  return {
    isOver(what) {
      const slot = newestSlot(client)
      const first = missedAt.get(what)
      if (first !== undefined && slot - first < FORGOTTEN_SLOTS) return slot - first >= TOO_NEW_SLOTS
      missedAt.set(what, slot)
      return false
    },
  }
}
