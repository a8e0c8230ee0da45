import { numberToHex } from 'viem'
import { smaller } from '../../../lib/bigint.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { readQuantity } from '../quantity.ts'
import { type AskedEverywhere, askEverywhere, isDefinitive } from './everywhere.ts'

/** Heights that are asked for in one request while the search goes back from the head. */
const HEIGHTS_PER_STEP = 8

/**
 * Where the account's count of transactions passed a nonce. `not_passed`: not by the block that was demanded · `pruned`: it was passed
 * by then, and no endpoint has the state of that time any more · `unknown`: nobody answered, and somebody may.
 */
export type NonceBlock =
  | { readonly kind: 'found'; readonly height: bigint }
  | { readonly kind: 'not_passed' }
  | { readonly kind: 'pruned' }
  | { readonly kind: 'unknown' }

export interface NonceSearch {
  readonly address: string
  readonly nonce: bigint
  /** The newest block that is looked at. */
  readonly asOf: bigint
  /** Blocks that have to lie on top of the one that is looked for. */
  readonly confirmations: bigint
}

/**
 * The lowest block after which `eth_getTransactionCount` is above the nonce: steps that double, back from the head, then a binary
 * search. At most about two calls for each binary digit of the height, from each endpoint, and few where it was used lately. What it
 * finds is where to look; whether the block holds the transaction is for the block to say.
 */
export async function findNonceBlock(client: PooledClient, search: NonceSearch): Promise<NonceBlock> {
  const bracket = await findBracket(client, search)
  if (bracket.kind !== 'bracket') return bracket
  let { below, above } = bracket
  while (above - below > 1n) {
    const middle = (above + below) / 2n
    const [passed] = await passedAt(client, search, [middle])
    if (passed === 'pruned' || passed === 'unknown' || passed === undefined)
      return { kind: passed ?? 'unknown' }
    if (passed === 'yes') above = middle
    else below = middle
  }
  return { kind: 'found', height: above }
}

type Bracket =
  | { readonly kind: 'bracket'; readonly below: bigint; readonly above: bigint }
  | { readonly kind: 'found'; readonly height: bigint }
  | { readonly kind: 'not_passed' | 'pruned' | 'unknown' }

async function findBracket(client: PooledClient, search: NonceSearch): Promise<Bracket> {
  const heights = heightsBack(search)
  let above: bigint | undefined
  for (let start = 0; start < heights.length; start += HEIGHTS_PER_STEP) {
    const step = heights.slice(start, start + HEIGHTS_PER_STEP)
    const passed = await passedAt(client, search, step)
    for (const [index, height] of step.entries()) {
      const here = passed[index] ?? 'unknown'
      if (here === 'pruned' || here === 'unknown') return { kind: above === undefined ? 'unknown' : here }
      if (here === 'no')
        return above === undefined ? { kind: 'not_passed' } : { kind: 'bracket', below: height, above }
      above = height
    }
  }
  return { kind: 'found', height: 0n }
}

/** The head, then one, two, four … blocks before it, the newest that is deep enough among them, and the first block at last. */
function heightsBack({ asOf, confirmations }: NonceSearch): bigint[] {
  const back = new Set([0n, smaller(confirmations, asOf), asOf])
  for (let step = 1n; step < asOf; step *= 2n) back.add(step)
  return [...back].sort((a, b) => (a < b ? -1 : 1)).map((step) => asOf - step)
}

type Passed = 'yes' | 'no' | 'pruned' | 'unknown'

async function passedAt(
  client: PooledClient,
  { address, nonce, asOf }: NonceSearch,
  heights: readonly bigint[],
): Promise<Passed[]> {
  const calls = heights.map((height) => ({
    method: 'eth_getTransactionCount',
    params: [address, numberToHex(height)],
  }))
  const asked = await askEverywhere(client, calls, asOf)
  return heights.map((_, index) => readPassed(asked, index, nonce))
}

/** Any endpoint that is not behind and has the state may tell; where they differ, the lowest count does. */
function readPassed({ endpoints, incomplete }: AskedEverywhere, index: number, nonce: bigint): Passed {
  const current = endpoints.filter(({ behind }) => !behind)
  const counts = current.flatMap(({ replies }) => {
    const reply = replies[index]
    const count = reply?.kind === 'result' ? readQuantity(reply.result) : undefined
    return count === undefined ? [] : [count]
  })
  if (counts.length > 0) return counts.reduce(smaller) > nonce ? 'yes' : 'no'
  const told = endpoints.every(({ replies }) => {
    const reply = replies[index]
    return reply !== undefined && isDefinitive(reply)
  })
  return told && !incomplete && current.length > 0 ? 'pruned' : 'unknown'
}
