import { larger, smaller } from '../../../lib/bigint.ts'
import type { SolanaDraft } from '../content.ts'

/**
 * A blockhash may be this many blocks old, counted from the parent of the block that takes it (agave `MAX_PROCESSING_AGE`,
 * `runtime/src/bank/check_transactions.rs`).
 */
const MAX_AGE = 150n

/** No fork is longer, in blocks: what has so many on top is finalized (agave `MAX_LOCKOUT_HISTORY` 31, and the block itself). */
export const FORK_MARGIN = 32n

/**
 * Most blocks between the first that can hold a transaction and `lapsesAt`. With a blockhash of ours, none up to the block of that one
 * can. With one that somebody else chose, the end is reckoned from the newest block at its preparation and a margin; it was signed
 * after that, and the newest block may have stood on a fork.
 */
const LONGEST_LIFE = MAX_AGE + 1n + 2n * FORK_MARGIN

/** How many slots before the one that was seen a durable nonce is looked for: the slot may have stood on a fork that was dropped. */
const SLOT_MARGIN = 64n

/** Where in the chain a transaction can be. Bounds are safe: the life of the transaction lies inside them. */
export interface Life {
  /** No block below this height can hold it. */
  readonly fromHeight?: bigint
  /** No block below this slot can hold it. */
  readonly fromSlot?: bigint
  /** No block above this height can hold it. Absent where nothing but the head of the chain ends it. */
  readonly toHeight?: bigint
}

/**
 * Where the transaction of a draft can be; undefined where the draft does not tell: a durable nonce of an earlier version of this
 * service, which did not keep the slot.
 */
export function lifeOf({ expiresAt, preparedAtSlot }: SolanaDraft): Life | undefined {
  if (expiresAt !== undefined)
    return { fromHeight: larger(0n, expiresAt - LONGEST_LIFE), toHeight: expiresAt }
  return preparedAtSlot === undefined ? undefined : { fromSlot: larger(0n, preparedAtSlot - SLOT_MARGIN) }
}

/** One that holds all of them. */
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
