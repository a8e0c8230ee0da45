import { randomInt } from 'node:crypto'
import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { SimulationRefusals } from '../../simulations.ts'
import type { SolanaRequest } from '../content.ts'
import { FORK_MARGIN } from '../inclusion/inclusion-window.ts'
import type { PolicySubject } from '../policies.ts'
import { contextualOf, fieldsOf, freshOf, readInteger, recentSlot, type Timeouts } from '../read/replies.ts'
import type { SolanaAccount } from '../types.ts'
import { isAddress } from '../wire/addresses.ts'
import { MAX_LOADED_BYTES } from './fees.ts'

/** The tools with which content is prepared. */
export interface PrepareContext {
  readonly client: PooledClient
  readonly blockhash: () => Promise<Answer<Lifetime>>
  readonly timeouts: Timeouts
  readonly simulations: SimulationRefusals
  /** Returns another number each time; see `createLoadedBytes`. */
  readonly loadedBytes: () => number
}

/** A request with everything that is known about it before its simulation. */
export interface Case {
  readonly subject: PolicySubject
  readonly request: SolanaRequest
  readonly policies: SolanaAccount['policies']
  /** The relayer may be more than the payer of the fee. */
  readonly spends: boolean
  readonly nonceAccount?: string
}

/** A blockhash, and the height after which no block accepts it. */
interface Lifetime {
  readonly blockhash: string
  readonly expiresAt: bigint
}

interface BlockhashWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /** New transactions use a blockhash for this time, in ms: about a slot. A longer time shortens the life of the transactions. */
  readonly freshForMs: number
}

/** Creates a reader of confirmed blockhashes, which queries at most once in `freshForMs` for all callers. */
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
 * with a margin. Refuses if no endpoint accepts the blockhash and it is not only too new for them.
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
  if (!agreed) return { kind: 'unknown', detail: 'no endpoint returned whether the blockhash is still valid' }
  if (!timeouts.isOver(`blockhash ${blockhash}`))
    return { kind: 'unknown', detail: 'no endpoint knows the blockhash; it may be too new for them' }
  const detail =
    'transaction: the network does not know its blockhash, or no longer does; sign it with a new one.'
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

function latest(commitment: 'processed' | 'confirmed'): RpcCall {
  return { method: 'getLatestBlockhash', params: [{ commitment }] }
}

function valid(blockhash: string): RpcCall {
  return { method: 'isBlockhashValid', params: [blockhash, { commitment: 'processed' }] }
}

/** Returns undefined if the endpoint did not answer, and when it denies while it is behind. */
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

/** The number of different limits. All of them are far above the bytes that a transaction loads. */
const VARIANTS = 2 ** 22

/**
 * Creates a source of numbers that make transactions different. Two requests with the same content are two transactions, but Solana treats
 * the same bytes as one. The limit of bytes that a transaction may load distinguishes them: it is just below the maximum, different each
 * time, and free of charge. One process uses all numbers before one repeats, and starts at a random one, because another process may have
 * just ended.
 */
export function createLoadedBytes(): () => number {
  let next = randomInt(VARIANTS)
  return () => {
    next = (next + 1) % VARIANTS
    return MAX_LOADED_BYTES - next
  }
}
