import type { Answer } from '../../answer.ts'
import type { EndpointReply, RpcReply } from '../../rpc/rpc.ts'

const NO_REPLY: RpcReply = { kind: 'unknown', detail: 'no reply' }

/** From a node that has not come far enough, or did not tell how far it is. */
export const BEHIND = {
  kind: 'unknown',
  detail: 'the endpoint is behind the newest ledger that is known',
} as const

/** The fields of a result; unknown when there is none, or none that can be read. */
export function fieldsOf(reply: RpcReply = NO_REPLY): Answer<Readonly<Record<string, unknown>>> {
  if (reply.kind === 'error') return { kind: 'unknown', detail: reply.message }
  if (reply.kind === 'unknown') return reply
  const { result } = reply
  return typeof result === 'object' && result !== null
    ? { kind: 'ok', value: result as Record<string, unknown> }
    : { kind: 'unknown', detail: 'the endpoint did not answer with an object' }
}

/** The fields of a result that somebody may act on for good: not from behind (I6). */
export function freshFieldsOf(
  endpointReply: EndpointReply | undefined,
  asOf: bigint | undefined,
): Answer<Readonly<Record<string, unknown>>> {
  if (endpointReply === undefined) return fieldsOf()
  const fields = fieldsOf(endpointReply.reply)
  return fields.kind === 'ok' && (endpointReply.behind || isBehind(fields.value, asOf)) ? BEHIND : fields
}

/** Behind one url may stand several nodes, so the one that answers tells itself how far it is. */
export function isBehind(
  { latestLedger }: Readonly<Record<string, unknown>>,
  asOf: bigint | undefined,
): boolean {
  const reached = readInteger(latestLedger)
  return asOf !== undefined && reached !== undefined && reached < asOf
}

/**
 * An integer as nodes write it: a JSON number where it is small, decimal digits where it may pass 2^53. Undefined for anything
 * else, and for a number that JSON could have rounded.
 */
export function readInteger(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  return typeof value === 'string' && /^-?\d{1,39}$/.test(value) ? BigInt(value) : undefined
}
