import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Answer } from '../../answer.ts'
import { createRecentAnswer } from '../../recent-answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { FORK_MARGIN } from '../inclusion/life.ts'
import { recentSlot } from '../read/recent.ts'
import { contextualOf, fieldsOf, freshOf, readInteger } from '../read/replies.ts'
import type { Timeouts } from '../timeouts.ts'
import { isAddress } from '../wire/base58.ts'

/** A blockhash, and the height after which no block accepts it any more. */
export interface Lifetime {
  readonly blockhash: string
  readonly expiresAt: bigint
}

interface BlockhashWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /** New transactions use a blockhash for this time, in ms: about a slot. A longer time shortens the life of the transactions. */
  readonly freshForMs: number
}

/** Creates a reader of confirmed blockhashes, which asks at most once in `freshForMs` for all callers. */
export function createBlockhashWatch({
  client,
  clock,
  freshForMs,
}: BlockhashWatchOptions): () => Promise<Answer<Lifetime>> {
  return createRecentAnswer({ ask: () => askLatest(client), clock, freshForMs }).read
}

async function askLatest(client: PooledClient): Promise<Answer<Lifetime>> {
  // The cluster has voted for a confirmed block, so its blockhash is hardly ever on a dropped fork.
  const [endpointReply] = await client.sendAsOf([latest('confirmed')], recentSlot(client))
  return readLatest(endpointReply)
}

/**
 * Estimates the height until which an external blockhash is valid. No node reports it; but the newest blockhash of a node that accepts the
 * external one is at least as young. The two answers may come from two banks, and from a fork that is dropped, so the highest one counts,
 * with a margin. Refuses when no endpoint accepts the blockhash and it is not only too new for them.
 */
export async function readExternalLifetime(
  { client, timeouts }: { readonly client: PooledClient; readonly timeouts: Timeouts },
  blockhash: string,
): Promise<Answer<{ readonly expiresAt: bigint }>> {
  const calls = [valid(blockhash), latest('processed')]
  const endpoints = await client.sendEverywhere(calls, recentSlot(client))
  const takers = endpoints.filter(([endpointReply]) => isValid(endpointReply) === true)
  const ends = takers.flatMap(([, endpointReply]) => {
    const newest = contextualOf(endpointReply?.reply)
    return (newest.kind === 'ok' ? readExpiry(newest.value.value) : undefined) ?? []
  })
  if (ends.length > 0) return { kind: 'ok', value: { expiresAt: ends.reduce(larger) + FORK_MARGIN } }
  const agreed =
    endpoints.length > 0 && endpoints.every(([endpointReply]) => isValid(endpointReply) === false)
  if (!agreed)
    return { kind: 'unknown', detail: 'no endpoint could tell whether the blockhash is still good' }
  if (!timeouts.isOver(`blockhash ${blockhash}`))
    return { kind: 'unknown', detail: 'no endpoint knows the blockhash; it may be too new for them' }
  const detail =
    'transaction: its blockhash is not, or no longer, known to the network; sign it with a new one.'
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

function latest(commitment: 'processed' | 'confirmed'): RpcCall {
  return { method: 'getLatestBlockhash', params: [{ commitment }] }
}

function valid(blockhash: string): RpcCall {
  return { method: 'isBlockhashValid', params: [blockhash, { commitment: 'processed' }] }
}

/** Returns undefined when the endpoint did not answer, and when it denies while it is behind. */
function isValid(endpointReply: EndpointReply | undefined): boolean | undefined {
  const answer = contextualOf(endpointReply?.reply)
  if (answer.kind !== 'ok' || typeof answer.value.value !== 'boolean') return undefined
  return answer.value.value || endpointReply?.behind === false ? answer.value.value : undefined
}

function readLatest(endpointReply: EndpointReply | undefined): Answer<Lifetime> {
  const answer = freshOf(endpointReply)
  if (answer.kind !== 'ok') return answer
  const { blockhash } = fieldsOf(answer.value.value)
  const expiresAt = readExpiry(answer.value.value)
  return typeof blockhash === 'string' && isAddress(blockhash) && expiresAt !== undefined
    ? { kind: 'ok', value: { blockhash, expiresAt } }
    : { kind: 'unknown', detail: 'the endpoint did not answer with a blockhash' }
}

/** The blockhash is valid up to and including `lastValidBlockHeight`. */
function readExpiry(value: unknown): bigint | undefined {
  const last = readInteger(fieldsOf(value).lastValidBlockHeight)
  return last === undefined ? undefined : last + 1n
}
