import { larger, smaller } from '../../../lib/bigint.ts'
import type { Head, Receipt } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { BlockHeight, Slot, SolanaDraft } from '../content.ts'
import { readFinalizedNonces } from '../read/accounts.ts'
import { readFinalized } from '../read/head.ts'
import type { EndpointStatuses } from '../read/receipts.ts'
import { openTransaction } from '../wire/message.ts'

/**
 * A blockhash may be this many blocks old, counted from the parent of the block that includes the transaction
 * (agave `MAX_PROCESSING_AGE`, `runtime/src/bank/check_transactions.rs`).
 */
const MAX_AGE = 150n

/**
 * No fork is longer than this, in blocks: a block with this many on top is finalized (agave
 * `MAX_LOCKOUT_HISTORY` 31, and the block itself).
 */
export const FORK_MARGIN = 32n

/**
 * The highest number of blocks between the first that can include a transaction and `expiresAt`. With a
 * blockhash of the service, no block up to that of the blockhash can include it. With a blockhash of others,
 * the end is computed from the newest block at the time of preparation and a margin; the transaction was
 * signed after that, and the newest block may have been on a fork.
 */
const LONGEST_LIFE = MAX_AGE + 1n + 2n * FORK_MARGIN

/**
 * The search for a durable nonce begins this many slots before the slot that was read, because that slot may
 * have been on a dropped fork.
 */
const SLOT_MARGIN = 64n

/**
 * The range of blocks that can include a transaction. The bounds are safe: the real life lies inside them.
 */
export interface InclusionWindow {
  /** No block below this height can include it. */
  readonly fromHeight?: BlockHeight
  /** No block below this slot can include it. */
  readonly fromSlot?: Slot
  /** No block above this height can include it. Absent if only the head of the chain ends its life. */
  readonly toHeight?: BlockHeight
}

/** Returns the range for a draft, which has an end or a durable nonce. */
export function inclusionWindowOf({ expiresAt, preparedAtSlot = 0n as Slot }: SolanaDraft): InclusionWindow {
  if (expiresAt !== undefined)
    return { fromHeight: larger(0n, expiresAt - LONGEST_LIFE) as BlockHeight, toHeight: expiresAt }
  return { fromSlot: larger(0n, preparedAtSlot - SLOT_MARGIN) as Slot }
}

/** Returns the range that contains all of them. */
export function joinWindows(lives: readonly InclusionWindow[]): InclusionWindow {
  const heights = lives.flatMap(({ fromHeight }) => fromHeight ?? [])
  const slots = lives.flatMap(({ fromSlot }) => fromSlot ?? [])
  const ends = lives.flatMap(({ toHeight }) => toHeight ?? [])
  return {
    ...(heights.length > 0 && { fromHeight: heights.reduce(smaller) }),
    ...(slots.length > 0 && { fromSlot: slots.reduce(smaller) }),
    ...(ends.length === lives.length && ends.length > 0 && { toHeight: ends.reduce(larger) }),
  }
}

/**
 * Returns true if the draft has expired. A blockhash expires at a finalized height. A durable nonce expires
 * when it is advanced; that must be finalized and not later than the head, so that an endpoint that has
 * reached the head also knows which transaction advanced it.
 */
export async function hasExpired(
  client: PooledClient,
  { expiresAt, nonceAccount, preparedAtSlot = 0n as Slot, transaction }: SolanaDraft,
  { number, expiredUpTo }: Head,
): Promise<boolean> {
  if (expiresAt !== undefined) {
    if (expiredUpTo === undefined || expiresAt > expiredUpTo) return false
    // The head is the word of one endpoint: with a height that the chain does not have, content would be
    // signed a second time too early.
    if (client.states().length < 2) return true
    const finalized = await readFinalized(client)
    return finalized.kind === 'ok' && expiresAt <= finalized.value.height
  }
  if (nonceAccount === undefined) return false
  const nonces = await readFinalizedNonces(client, nonceAccount)
  if (nonces.kind !== 'ok') return false
  const token = openTransaction(transaction).message.lifetimeToken
  // The draft has the nonce of a confirmed slot. Until that slot is finalized, the finalized account has an
  // earlier nonce, or does not exist.
  const later = nonces.value.filter(
    ({ slot, state }) => slot >= preparedAtSlot && slot <= number && state?.value !== token,
  )
  // An expired draft counts as failed, or is signed again, so one endpoint of two must not decide it alone.
  return later.length * 2 > nonces.value.length
}

/**
 * Returns true if a block contains the draft without having executed it and another may still execute it:
 * that did not advance the durable nonce, and the network forgets such a transaction (SIMD-0297). A blockhash
 * has no second time: the network remembers its transactions while it is valid, executed or not (SIMD-0290).
 */
export function mayStillExecute({ nonceAccount }: SolanaDraft, { executed }: Receipt): boolean {
  return nonceAccount !== undefined && executed !== undefined
}

/** A transaction whose absence has to be proved with ledgers. */
export interface UnprovenTransaction<T> {
  readonly of: T
  readonly life: InclusionWindow
  /** The answers of each endpoint about its signatures. */
  readonly endpoints: readonly EndpointStatuses[]
}

/**
 * Lives that begin at most this many blocks apart are proved together, because they share most of their
 * blocks.
 */
const NEAR_BLOCKS = 150n

/** Groups transactions with lives close to each other; a transaction with a life by slot stays alone. */
export function groupByWindow<T>(open: readonly UnprovenTransaction<T>[]): UnprovenTransaction<T>[][] {
  const alone = open.filter(({ life }) => !livesByHeight(life))
  const sorted = open.filter(({ life }) => livesByHeight(life)).sort(byStart)
  const groups: UnprovenTransaction<T>[][] = []
  for (const one of sorted) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && startOf(one) - startOf(group[0]) <= NEAR_BLOCKS) group.push(one)
    else groups.push([one])
  }
  return [...groups, ...alone.map((one) => [one])]
}

function livesByHeight({ fromHeight, fromSlot, toHeight }: InclusionWindow): boolean {
  return fromHeight !== undefined && toHeight !== undefined && fromSlot === undefined
}

function startOf<T>({ life: { fromHeight } }: UnprovenTransaction<T>): bigint {
  return fromHeight ?? 0n
}

function byStart<T>(one: UnprovenTransaction<T>, other: UnprovenTransaction<T>): number {
  const difference = startOf(one) - startOf(other)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
