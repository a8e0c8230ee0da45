import { larger, smaller } from '../../../lib/bigint.ts'
import type { SolanaDraft } from '../content.ts'

/**
 * A blockhash may be this many blocks old, counted from the parent of the block that includes the transaction (agave `MAX_PROCESSING_AGE`,
 * `runtime/src/bank/check_transactions.rs`).
 */
const MAX_AGE = 150n

/**
 * No fork is longer than this, in blocks: a block with this many on top is finalized (agave `MAX_LOCKOUT_HISTORY` 31, and the block
 * itself).
 */
export const FORK_MARGIN = 32n

/**
 * The highest number of blocks between the first that can include a transaction and `expiresAt`. With a blockhash of the service, no block
 * up to that of the blockhash can include it. With a blockhash of others, the end is computed from the newest block at the time of
 * preparation and a margin; the transaction was signed after that, and the newest block may have been on a fork.
 */
const LONGEST_LIFE = MAX_AGE + 1n + 2n * FORK_MARGIN

/**
 * The search for a durable nonce begins this many slots before the slot that was read, because that slot may have been on a dropped fork.
 */
const SLOT_MARGIN = 64n

/** The range of blocks that can include a transaction. The bounds are safe: the real life lies inside them. */
export interface Life {
  /** No block below this height can include it. */
  readonly fromHeight?: bigint
  /** No block below this slot can include it. */
  readonly fromSlot?: bigint
  /** No block above this height can include it. Absent where only the head of the chain ends the life. */
  readonly toHeight?: bigint
}

/** Returns the range for a draft; undefined for a durable nonce of an earlier version of this service, which did not store the slot. */
export function lifeOf({ expiresAt, preparedAtSlot }: SolanaDraft): Life | undefined {
  if (expiresAt !== undefined)
    return { fromHeight: larger(0n, expiresAt - LONGEST_LIFE), toHeight: expiresAt }
  return preparedAtSlot === undefined ? undefined : { fromSlot: larger(0n, preparedAtSlot - SLOT_MARGIN) }
}

/** Returns the range that contains all of them. */
export function spanOf(lives: readonly Life[]): Life {
  const heights = lives.flatMap(({ fromHeight }) => fromHeight ?? [])
  const slots = lives.flatMap(({ fromSlot }) => fromSlot ?? [])
  const ends = lives.flatMap(({ toHeight }) => toHeight ?? [])
  return {
    ...(heights.length > 0 && { fromHeight: heights.reduce(smaller) }),
    ...(slots.length > 0 && { fromSlot: slots.reduce(smaller) }),
    ...(ends.length === lives.length && ends.length > 0 && { toHeight: ends.reduce(larger) }),
  }
}
