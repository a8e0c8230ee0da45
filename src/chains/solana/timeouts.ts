import type { PooledClient } from '../rpc/rpc.ts'
import { newestSlot } from './read/recent.ts'

/**
 * A thing that is still missing this many finalized slots after it was first missed is not only too new: a node may be some seconds late,
 * and a block that a client saw is finalized, or dropped, 32 slots later.
 */
const TOO_NEW_SLOTS = 64n

/** A thing that was missed this many slots ago counts as missed for the first time. */
const FORGOTTEN_SLOTS = 1_000n

/** The memory holds at most this many things and forgets the oldest first, whose time starts again. */
const MAX_REMEMBERED = 10_000

/**
 * Distinguishes things that do not exist from things that a node does not know yet: blockhashes, nonces and tables that others have just
 * created.
 */
export interface Timeouts {
  /** Notes that a thing is missing; returns true when it has been missing for too long to be only new. */
  isOver(what: string): boolean
}

/** Creates an empty memory. It counts the slots that endpoints report; a new process waits again. */
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
