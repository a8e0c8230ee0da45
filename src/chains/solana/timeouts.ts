import type { PooledClient } from '../rpc/rpc.ts'
import { newestSlot } from './read/recent.ts'

/**
 * So many finalized slots after it was missed first, something is not only too new: a node may be some seconds late, and what stood in
 * a block that a client saw is finalized, or dropped, 32 slots later.
 */
const TOO_NEW_SLOTS = 64n

/** What was missed so many slots ago was another occasion. */
const FORGOTTEN_SLOTS = 1_000n

/** Most things that are remembered; the oldest are forgotten first, and get their time anew. */
const MAX_REMEMBERED = 10_000

/** Tells what does not exist from what a node does not know yet: blockhashes, nonces and tables that others have just made. */
export interface Timeouts {
  /** Notes that this was missing; true when it has been for so long that it is not only too new. */
  isOver(what: string): boolean
}

/** Nothing was missed so far. Goes by the slots that endpoints tell of, in memory: a process that starts anew waits anew. */
export function createTimeouts(client: PooledClient): Timeouts {
  const missedAt = new Map<string, bigint>()
  return {
    isOver(what) {
      const slot = newestSlot(client)
      const first = missedAt.get(what)
      if (first !== undefined && slot - first < FORGOTTEN_SLOTS) return slot - first >= TOO_NEW_SLOTS
      missedAt.delete(what)
      missedAt.set(what, slot)
      const [oldest] = missedAt.keys()
      if (missedAt.size > MAX_REMEMBERED && oldest !== undefined) missedAt.delete(oldest)
      return false
    },
  }
}
