import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Answer } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { FORK_MARGIN } from '../inclusion/life.ts'
import { recentSlot } from '../read/recent.ts'
import { contextualOf, fieldsOf, freshOf, readInteger } from '../read/replies.ts'
import type { Timeouts } from '../timeouts.ts'

/** A blockhash, and the height from which on no block takes it any more. */
export interface Lifetime {
  readonly blockhash: string
  readonly expiresAt: bigint
}

interface BlockhashWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /** How long a blockhash is given to new transactions, in ms: about a slot. Each one shortens their life. */
  readonly freshForMs: number
}

/** Answers with a confirmed blockhash, asked at most once in `freshForMs` however many callers there are. */
export function createBlockhashWatch({
  client,
  clock,
  freshForMs,
}: BlockhashWatchOptions): () => Promise<Answer<Lifetime>> {
  let asked: { at: number; answer: Promise<Answer<Lifetime>> } | undefined
  return async () => {
    const now = clock.now()
    if (!asked || now - asked.at >= freshForMs) asked = { at: now, answer: askLatest(client) }
    const answer = await asked.answer
    if (answer.kind !== 'ok') asked = undefined
    return answer
  }
}

async function askLatest(client: PooledClient): Promise<Answer<Lifetime>> {
  // Confirmed: of a block that the cluster's votes have chosen, so that it is hardly ever the blockhash of a dropped fork.
  const [endpointReply] = await client.sendAsOf([latest('confirmed')], recentSlot(client))
  return readLatest(endpointReply)
}

/**
 * Until when a blockhash is good that somebody else has chosen. Of its own end no node tells; but the newest blockhash of a node that
 * takes it is at least as young. The two answers may be of two banks, and of a fork that is dropped, so the highest counts and a margin.
 * Refused when no endpoint takes it, and it is not only too new for them.
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

/** Undefined when the endpoint did not tell; and a no from behind is none. */
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
  return typeof blockhash === 'string' && expiresAt !== undefined
    ? { kind: 'ok', value: { blockhash, expiresAt } }
    : { kind: 'unknown', detail: 'the endpoint did not answer with a blockhash' }
}

/** Good up to and with `lastValidBlockHeight`. */
function readExpiry(value: unknown): bigint | undefined {
  const last = readInteger(fieldsOf(value).lastValidBlockHeight)
  return last === undefined ? undefined : last + 1n
}
