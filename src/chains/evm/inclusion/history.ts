import { numberToHex } from 'viem/utils'
import { larger, smaller } from '../../../lib/bigint.ts'
import type { PooledClient, RpcReply } from '../../rpc/rpc.ts'
import { readCount } from '../read/quantity.ts'

/**
 * Our clock may have been ahead of the time in headers by this much, in ms: a day, as after a wrong time
 * zone, and an hour more. With less, a transaction could lie in a block that counts as older than its
 * signature, and would be executed a second time. A longer time demands a longer memory of the endpoints.
 */
const CLOCK_SLACK_MS = 90_000_000

/** The search reads this many blocks before and after the time to find one with a transaction. */
const WINDOW = 32n

/**
 * A transaction whose receipt shows that an endpoint remembers all blocks since a time. `ours`: a block of
 * that time holds a hash of the question · `covered`: the search read all blocks since then, and none holds
 * such a hash · `none`: the blocks around that time hold no transaction at all.
 */
export type ReferenceBlock =
  | { readonly kind: 'landmark'; readonly hash: string; readonly height: bigint }
  | { readonly kind: 'ours'; readonly hash: string; readonly height: bigint }
  | { readonly kind: 'covered' }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

interface LandmarkSearch {
  readonly since: Date
  /** The newest block of the search. */
  readonly asOf: bigint
  readonly ours: ReadonlySet<string>
}

/**
 * Finds a landmark: the newest transaction that is not younger than `since`, or the oldest one after it where
 * the blocks between are empty. It reads headers only, which nodes keep longest: a binary search by time, and
 * 65 blocks around the result.
 */
export async function findLandmark(client: PooledClient, search: LandmarkSearch): Promise<ReferenceBlock> {
  const start = await findBlockAt(client, search)
  if (start === undefined) return { kind: 'unknown' }
  const window = await readWindow(client, start, search.asOf)
  if (window === undefined) return { kind: 'unknown' }
  return chooseLandmark(window, start, search)
}

/**
 * Chooses the landmark. Pure. The window has no holes, starts with the oldest block, and reaches to both
 * sides of `start`.
 */
function chooseLandmark(
  window: readonly Header[],
  start: bigint,
  { asOf, ours }: LandmarkSearch,
): ReferenceBlock {
  for (const { height, transactions } of window) {
    const hash = transactions.find((one) => ours.has(one))
    if (hash !== undefined) return { kind: 'ours', hash, height }
  }
  if (window.at(-1)?.height === asOf) return { kind: 'covered' }
  const filled = window.filter(({ transactions }) => transactions.length > 0)
  const chosen = filled.findLast(({ height }) => height <= start) ?? filled[0]
  const hash = chosen?.transactions[0]
  return chosen === undefined || hash === undefined
    ? { kind: 'none' }
    : { kind: 'landmark', hash, height: chosen.height }
}

/** Finds the newest block that is not younger than the time; the first block when all are younger. */
async function findBlockAt(
  client: PooledClient,
  { since, asOf }: LandmarkSearch,
): Promise<bigint | undefined> {
  const limit = BigInt(Math.floor(Math.max(0, since.getTime() - CLOCK_SLACK_MS) / 1_000))
  let [older, younger] = [0n, asOf + 1n]
  while (younger - older > 1n) {
    const middle = (older + younger) / 2n
    const [header] = (await readHeaders(client, [middle], asOf)) ?? []
    if (header === undefined) return undefined
    if (header.timestamp <= limit) older = middle
    else younger = middle
  }
  return older
}

function readWindow(client: PooledClient, start: bigint, asOf: bigint): Promise<Header[] | undefined> {
  const [first, last] = [larger(0n, start - WINDOW), smaller(asOf, start + WINDOW)]
  const heights = Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index))
  return readHeaders(client, heights, asOf)
}

interface Header {
  readonly height: bigint
  /** Unix time in seconds. */
  readonly timestamp: bigint
  readonly transactions: readonly string[]
}

/** Reads headers; undefined unless an endpoint that is not behind has all of them. */
async function readHeaders(
  client: PooledClient,
  heights: readonly bigint[],
  asOf: bigint,
): Promise<Header[] | undefined> {
  const calls = heights.map((height) => ({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(height), false],
  }))
  const endpointReplies = await client.sendAsOf(calls, asOf)
  const headers = heights.flatMap((height, index) => {
    const answer = endpointReplies[index]
    const header = answer === undefined || answer.behind ? undefined : readHeader(answer.reply, height)
    return header ?? []
  })
  return headers.length === heights.length ? headers : undefined
}

function readHeader(reply: RpcReply, height: bigint): Header | undefined {
  if (reply.kind !== 'result') return undefined
  const block = (reply.result ?? {}) as Record<'number' | 'timestamp' | 'transactions', unknown>
  const timestamp = readCount(block.timestamp)
  const { transactions } = block
  if (readCount(block.number) !== height || timestamp === undefined || !Array.isArray(transactions))
    return undefined
  return { height, timestamp, transactions: transactions.map(String) }
}
