import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import { askStatements, secondHighest } from '../../rpc/agreement.ts'
import { createRecentAnswer } from '../../rpc/balance-reader.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { BlockHeight } from '../content.ts'
import { FORK_MARGIN } from '../inclusion/inclusion-window.ts'
import {
  contextualOf,
  fieldsOf,
  freshOf,
  readHeight,
  recentSlot,
  type Timeouts,
  TOLERATED_SLOTS,
} from '../read/replies.ts'
import { isAddress } from '../wire/addresses.ts'
import type { Lifetime } from './context.ts'

interface BlockhashWatchOptions {
  readonly client: PooledClient
  readonly clock: Clock
  /**
   * New transactions use a blockhash for this time, in ms: about a slot. A longer time shortens the life of
   * the transactions.
   */
  readonly freshForMs: number
}

/** Creates a reader of confirmed blockhashes, which queries at most once in `freshForMs` for all callers. */
export function createBlockhashWatch({
  client,
  clock,
  freshForMs,
}: BlockhashWatchOptions): () => Promise<Answer<Lifetime>> {
  return createRecentAnswer({ ask: createLatestReader(client), clock, freshForMs }).read
}

/**
 * Asks every endpoint for its newest confirmed blockhash. The cluster has voted for a confirmed block, so its
 * blockhash is hardly ever on a dropped fork. A blockhash that the chain does not have would cost a minute
 * each time, so of several the one counts that most endpoints call valid; and the end of its life, after
 * which content is signed again, is never before the one that several of them tell.
 */
function createLatestReader(client: PooledClient): () => Promise<Answer<Lifetime>> {
  let turn = 0
  return async () => {
    const told = await askStatements(client, {
      calls: [latest('confirmed')],
      read: ([endpointReply]) => readLatest(endpointReply && { ...endpointReply, behind: false }),
      isSame: (one, other) => isNearHeight(one.expiresAt, other.expiresAt),
      toleratedBlocks: TOLERATED_SLOTS,
    })
    if (told.kind !== 'ok') return told
    const lifetimes = told.value
      .map(({ value }) => value)
      .toSorted((one, other) => (one.expiresAt < other.expiresAt ? -1 : 1))
    const expiresAt = endOf(lifetimes.map((one) => one.expiresAt))
    const candidates = [...new Set(lifetimes.map(({ blockhash }) => blockhash))]
    const [only = ''] = candidates
    if (candidates.length === 1) return { kind: 'ok', value: { blockhash: only, expiresAt } }
    const valid = await mostValid(client, candidates)
    turn += 1
    // Two endpoints that deny each other take turns, so that at least every second version can be included.
    return { kind: 'ok', value: { blockhash: valid[turn % valid.length] ?? only, expiresAt } }
  }
}

/** Blockhashes whose lives end at most this many blocks apart are of about the same time. */
function isNearHeight(one: BlockHeight, other: BlockHeight): boolean {
  return (one > other ? one - other : other - one) <= FORK_MARGIN
}

/**
 * Returns the latest end that is near what a second endpoint tells. Of two that differ much, a later end is
 * safe: nothing is signed twice.
 */
function endOf(ends: readonly BlockHeight[]): BlockHeight {
  const counted = (ends.length < 3 ? undefined : secondHighest(ends)) ?? ends.reduce(larger)
  return ends.filter((end) => isNearHeight(end, counted)).reduce(larger, counted)
}

/**
 * Returns those of the blockhashes that the most endpoints call valid. The oldest ones come first, which more
 * endpoints know.
 */
async function mostValid(client: PooledClient, candidates: readonly string[]): Promise<readonly string[]> {
  const votesIn = (endpoints: readonly (readonly EndpointReply[])[]) =>
    candidates.map((_, index) => endpoints.filter((replies) => isValidIn(replies[index]) === true).length)
  const endpoints = await client.sendEverywhere(candidates.map(valid), 0n, (answered) =>
    votesIn(answered).some((votes) => votes > 1),
  )
  const votes = votesIn(endpoints)
  const most = Math.max(...votes)
  const best = candidates.filter((_, index) => votes[index] === most)
  return most > 1 ? best.slice(0, 1) : best
}

function isValidIn(endpointReply: EndpointReply | undefined): boolean | undefined {
  const answer = contextualOf(endpointReply?.reply)
  return answer.kind === 'ok' && typeof answer.value.value === 'boolean' ? answer.value.value : undefined
}

/**
 * Estimates the height until which an external blockhash is valid. No node reports it; but the newest
 * blockhash of a node that accepts the external one is at least as young. The two answers may come from two
 * banks, and from a fork that is dropped, so the highest one counts, with a margin. Refuses if no endpoint
 * accepts the blockhash and it is not only too new for them.
 */
export async function readExternalLifetime(
  { client, timeouts }: { readonly client: PooledClient; readonly timeouts: Timeouts },
  blockhash: string,
): Promise<Answer<{ readonly expiresAt: BlockHeight }>> {
  const calls = [valid(blockhash), latest('processed')]
  const endpoints = await client.sendEverywhere(calls, recentSlot(client), isLifetimeSettled)
  const takers = endpoints.filter(([endpointReply]) => isValid(endpointReply) === true)
  const ends = takers.flatMap(endIn)
  if (ends.length > 0) return { kind: 'ok', value: { expiresAt: (endOf(ends) + FORK_MARGIN) as BlockHeight } }
  const deniers = endpoints.filter(([endpointReply]) => isValid(endpointReply) === false)
  // Two that deny it are enough, and with one endpoint its own word: a silent one must not keep it waiting
  // for ever.
  if (deniers.length === 0 || deniers.length < Math.min(2, endpoints.length))
    return { kind: 'unknown', detail: 'no endpoint returned whether the blockhash is still valid' }
  if (!timeouts.isOver(`blockhash ${blockhash}`))
    return { kind: 'unknown', detail: 'no endpoint knows the blockhash; it may be too new for them' }
  const detail =
    'transaction: the network does not know its blockhash, or no longer does; sign it with a new one.'
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

function endIn([, newest]: readonly EndpointReply[]): BlockHeight[] {
  const answer = contextualOf(newest?.reply)
  return (answer.kind === 'ok' ? [readExpiry(answer.value.value)] : []).filter((end) => end !== undefined)
}

/** Two endpoints deny the blockhash, or accept it and tell about the same end. */
function isLifetimeSettled(answered: readonly (readonly EndpointReply[])[]): boolean {
  const of = (said: boolean) => answered.filter(([endpointReply]) => isValid(endpointReply) === said)
  const ends = of(true).flatMap(endIn)
  const agree = ends.some((end, index) => ends.slice(index + 1).some((other) => isNearHeight(end, other)))
  return agree || of(false).length > 1
}

function latest(commitment: 'processed' | 'confirmed'): RpcCall {
  return { method: 'getLatestBlockhash', params: [{ commitment }] }
}

function valid(blockhash: string): RpcCall {
  return { method: 'isBlockhashValid', params: [blockhash, { commitment: 'processed' }] }
}

/** Returns undefined if the endpoint did not answer, and when it denies while it is behind. */
function isValid(endpointReply: EndpointReply | undefined): boolean | undefined {
  const isKnown = isValidIn(endpointReply)
  return isKnown === true || endpointReply?.behind === false ? isKnown : undefined
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
function readExpiry(value: unknown): BlockHeight | undefined {
  const last = readHeight(fieldsOf(value).lastValidBlockHeight)
  return last === undefined ? undefined : ((last + 1n) as BlockHeight)
}
