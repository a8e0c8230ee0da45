import { larger } from '../../../lib/bigint.ts'
import type { PooledClient } from '../../rpc/rpc.ts'

/**
 * A node may be this many slots behind the newest one, about six seconds, when its answer is not final. Behind one url there are often many
 * nodes, a few slots apart, and without tolerance half of their answers would not count. Receipts and heads, which decide for good, do not
 * use it.
 */
const TOLERATED_SLOTS = 16n

/** Returns the newest finalized slot that a healthy endpoint reported; 0 before the first. */
export function newestSlot(client: PooledClient): bigint {
  const heads = client.states().flatMap(({ head, healthy }) => (healthy && head !== undefined ? [head] : []))
  return heads.reduce(larger, 0n)
}

/** Returns the slot that a node must have finalized for its answers to be recent enough. */
export function recentSlot(client: PooledClient): bigint {
  const newest = newestSlot(client)
  return newest > TOLERATED_SLOTS ? newest - TOLERATED_SLOTS : 0n
}
