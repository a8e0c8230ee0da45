import { larger } from '../../../lib/bigint.ts'
import type { PooledClient } from '../../rpc/rpc.ts'

/**
 * How many slots a node may be behind the one that is furthest, when it is asked for something that is only looked at: some six
 * seconds. Behind one url there are often many nodes, a few slots apart, and with none allowed half of their answers would
 * count for nothing. What decides for good, receipts and heads, does not use it.
 */
const TOLERATED_SLOTS = 16n

/** The newest finalized slot that a healthy endpoint told of; 0 before the first. */
export function newestSlot(client: PooledClient): bigint {
  const heads = client.states().flatMap(({ head, healthy }) => (healthy && head !== undefined ? [head] : []))
  return heads.reduce(larger, 0n)
}

/** The slot that a node has to have finalized for its answers to be recent enough. */
export function recentSlot(client: PooledClient): bigint {
  const newest = newestSlot(client)
  return newest > TOLERATED_SLOTS ? newest - TOLERATED_SLOTS : 0n
}
