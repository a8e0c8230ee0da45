import type { BroadcastResult } from './answer.ts'
import type { PooledClient, RpcCall, RpcReply } from './rpc/rpc.ts'
import { isRefusal, isRefusing, markUnanswered } from './unanswered.ts'

interface Broadcasted {
  readonly calls: readonly RpcCall[]
  /** The result of each call. */
  readonly results: readonly BroadcastResult[]
  readonly read: (reply: RpcReply) => { readonly kind: string }
}

/**
 * Sends refused bytes to every endpoint before the refusal counts: an endpoint that received them earlier, and whose reply was lost, has
 * them. Sending the same bytes twice is harmless. Any other answer than a refusal leaves it in doubt (I6): silence, and a sequence number that
 * is used, possibly by these bytes.
 */
export async function confirmRefusals(
  client: PooledClient,
  { calls, results, read }: Broadcasted,
): Promise<BroadcastResult[]> {
  const doubtful = [...results.keys()].filter((index) => isRefusing(results[index] ?? NO_RESULT))
  if (doubtful.length === 0 || client.states().length < 2) return [...results]
  const everywhere = await client.sendEverywhere(
    doubtful.flatMap((index) => calls[index] ?? []),
    ANY_HEIGHT,
  )
  return results.map((result, index) => {
    const place = doubtful.indexOf(index)
    if (place === -1) return result
    const kinds = everywhere.map((replies) => read(replies[place]?.reply ?? NO_RESULT).kind)
    if (kinds.includes('accepted')) return { kind: 'accepted', known: true }
    return markUnanswered(result, !kinds.every(confirms))
  })
}

/** A node that wants the bytes later has not accepted them either. */
function confirms(kind: string): boolean {
  return kind === 'later' || isRefusal(kind)
}

const NO_RESULT = { kind: 'unknown', detail: 'no reply' } as const

/** A lagging node also knows the bytes that it received. */
const ANY_HEIGHT = 0n
