import type { Answer } from '../../answer.ts'
import type { EndpointReply, RpcReply } from '../../rpc/rpc.ts'

/** A value, and the slot whose state it was read from. */
export interface Contextual {
  readonly slot: bigint
  readonly value: unknown
}

const NO_REPLY: RpcReply = { kind: 'unknown', detail: 'no reply' }

/** The answer of a node that has not reached the demanded slot, or did not report its slot. */
const BEHIND = { kind: 'unknown', detail: 'the endpoint is behind the newest slot that is known' } as const

/** Reads an integer from 0 that JSON has not rounded; undefined for anything else. */
export function readInteger(value: unknown): bigint | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
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
  const slot = readInteger(fieldsOf(context).slot)
  return slot === undefined || value === undefined
    ? { kind: 'unknown', detail: 'the endpoint answered without a slot' }
    : { kind: 'ok', value: { slot, value } }
}

/** Reads like `contextualOf`, but not from a node that is behind: for decisions that are final (I6). */
export function freshOf(endpointReply: EndpointReply | undefined): Answer<Contextual> {
  const answer = contextualOf(endpointReply?.reply)
  return answer.kind === 'ok' && endpointReply?.behind !== false ? BEHIND : answer
}
