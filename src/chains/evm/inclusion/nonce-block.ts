import { numberToHex } from 'viem/utils'
import { smaller } from '../../../lib/bigint.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { readCount } from '../quantity.ts'
import { type AskedEverywhere, askEverywhere, isDefinitive } from './everywhere.ts'

/** One request asks for this many heights while the search goes back from the head. */
const HEIGHTS_PER_STEP = 8

/**
 * The block in which the account's transaction count passed a nonce. `not_passed`: the count had not passed it by the demanded block ·
 * `pruned`: it had, and no endpoint has the state of that time any more · `unknown`: no endpoint answered, and one may answer later.
 */
export type NonceBlock =
  | { readonly kind: 'found'; readonly height: bigint }
  | { readonly kind: 'not_passed' }
  | { readonly kind: 'pruned' }
  | { readonly kind: 'unknown' }

export interface NonceSearch {
  readonly address: string
  readonly nonce: bigint
  /** The newest block of the search. */
  readonly asOf: bigint
  /** This many blocks must lie on top of the block that the search finds. */
  readonly confirmations: bigint
}

/**
 * Finds the lowest block after which `eth_getTransactionCount` is above the nonce: steps that double, back from the head, then a binary
 * search. It costs each endpoint at most about two calls for each binary digit of the height, and few for a recent nonce. The result is
 * only a hint: the block itself shows whether it holds the transaction.
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

/** Lists the head, the blocks one, two, four … before it, the newest of them that is deep enough, and finally the first block. */
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

/** Reads the count from any endpoint that is not behind and has the state; where endpoints differ, the lowest count wins. */
function readPassed({ endpoints, incomplete }: AskedEverywhere, index: number, nonce: bigint): Passed {
  const current = endpoints.filter(({ behind }) => !behind)
  const counts = current.flatMap(({ replies }) => {
    const reply = replies[index]
    const count = reply?.kind === 'result' ? readCount(reply.result) : undefined
    return count === undefined ? [] : [count]
  })
  if (counts.length > 0) return counts.reduce(smaller) > nonce ? 'yes' : 'no'
  const told = endpoints.every(({ replies }) => {
    const reply = replies[index]
    return reply !== undefined && isDefinitive(reply)
  })
  return told && !incomplete && current.length > 0 ? 'pruned' : 'unknown'
}
