import { smaller } from '../../../lib/bigint.ts'
import type { Life } from './life.ts'

/**
 * A node's own ledger begins at the second rooted block behind the oldest slot that it tells (agave `blockstore.rs`
 * `get_first_available_block`); below that it asks its long-term storage. So many slots are certainly enough for two blocks.
 */
const LEDGER_EDGE = 32n

/**
 * A node may know a slot to be finalized, by the votes of the others, before it lists it as rooted itself. What it does not list so
 * many slots later, it does not have.
 */
const ROOT_LAG = 300n

/**
 * A node knows the signatures of so many rooted blocks, and of everything above them, whatever its ledger holds; a snapshot brings them
 * with it (agave `runtime/src/status_cache.rs` `MAX_CACHE_ENTRIES`, `accounts-db` `verify_slot_deltas`).
 */
const STATUS_CACHE_BLOCKS = 300n

/** What an endpoint told of its ledger when it was asked for the blocks of some slots. */
export interface LedgerReading {
  /** The slot from which on blocks were asked for. */
  readonly askedFrom: bigint
  /** The oldest slot of its own ledger, told after everything else. */
  readonly begin: bigint
  /**
   * Heights that it told itself, null where it lists a block and cannot tell of it: a node that was started with transaction history only
   * later has older blocks, and not what is in them.
   */
  readonly told: ReadonlyMap<bigint, bigint | null>
  /** The height of its newest block, told after everything else; undefined when it did not tell. */
  readonly newestHeight?: bigint | undefined
  /** The slots of its finalized blocks, in their order; undefined when it could not list them. */
  readonly blocks: readonly bigint[] | undefined
}

/** Heights of blocks by their slots, as far as they are known. They are the same on every node. */
export type Heights = ReadonlyMap<bigint, bigint>

/**
 * Whether a node knows the signatures of every block that could hold a transaction. `complete`: it does. `edge`: it begins above the first slot that was
 * asked for; ask from `from` on. `late`: what was asked for begins too late; ask from further back. `pruned`: it begins too late.
 * `hole`: blocks are missing, so many where that is known. `unknown`: heights or newest blocks are not known yet.
 */
export type Coverage =
  | { readonly kind: 'complete' }
  | { readonly kind: 'edge'; readonly from: bigint }
  | { readonly kind: 'late' }
  | { readonly kind: 'pruned'; readonly begin: bigint }
  | { readonly kind: 'hole'; readonly missing?: bigint }
  | { readonly kind: 'unknown' }

/** What has to be covered: a life, as far as this slot, which has a finalized block. */
export interface Span {
  readonly life: Life
  readonly asOf: bigint
  /** The height that the chain has come to, finalized, for certain. */
  readonly height: bigint
}

/**
 * Heights count blocks and slots do not, so blocks whose number is the difference of the heights at both ends have none missing between
 * them. A slot that was skipped looks like one that was lost; a height is never skipped.
 */
export function coverageOf(reading: LedgerReading, span: Span, heights: Heights): Coverage {
  const { askedFrom, begin, blocks, told } = reading
  if (isRemembered(reading, span)) return { kind: 'complete' }
  // Below its own ledger another storage may have answered, whose errors look like an unknown signature.
  if (begin > 0n && begin + LEDGER_EDGE > askedFrom) return { kind: 'edge', from: begin + LEDGER_EDGE }
  if (blocks === undefined) return { kind: 'unknown' }
  const last = blocks.at(-1)
  if (last === undefined) return span.asOf - askedFrom > ROOT_LAG ? { kind: 'hole' } : { kind: 'unknown' }
  const lastHeight = heights.get(last)
  const start = startIndex(blocks, span.life, lastHeight)
  const first = start === undefined ? undefined : blocks[start]
  const firstHeight = first === undefined ? undefined : told.get(first)
  if (firstHeight === null) return { kind: 'hole' }
  if (start === undefined || first === undefined || firstHeight === undefined || lastHeight === undefined)
    return { kind: 'unknown' }
  if (!endsLateEnough(span, last, lastHeight))
    return span.asOf - last > ROOT_LAG ? { kind: 'hole' } : { kind: 'unknown' }
  if (!startsEarlyEnough(span.life, first, firstHeight))
    return begin > 0n && askedFrom <= begin + LEDGER_EDGE ? { kind: 'pruned', begin } : { kind: 'late' }
  const missing = lastHeight - firstHeight + 1n - BigInt(blocks.length - start)
  if (missing === 0n) return { kind: 'complete' }
  return missing > 0n ? { kind: 'hole', missing } : { kind: 'unknown' }
}

/** Whether all of the life lies in the blocks whose signatures the node knows without its ledger. */
function isRemembered({ newestHeight }: LedgerReading, { life, height }: Span): boolean {
  const { fromHeight, fromSlot, toHeight = height } = life
  if (newestHeight === undefined || fromHeight === undefined || fromSlot !== undefined) return false
  const reached = newestHeight >= smaller(toHeight, height)
  return reached && newestHeight - fromHeight < STATUS_CACHE_BLOCKS
}

/** The slots whose heights `coverageOf` goes by; the last one's decides which the first is. */
export function decisiveSlots(blocks: readonly bigint[], life: Life, heights: Heights): bigint[] {
  const last = blocks.at(-1)
  if (last === undefined) return []
  const start = startIndex(blocks, life, heights.get(last))
  const first = start === undefined ? undefined : blocks[start]
  return first === undefined ? [last] : [last, first]
}

/**
 * The place of the block with which the life begins if none is missing behind it; the first block where the list begins too late.
 * Undefined while the height of the last block has to be known and is not.
 */
function startIndex(
  blocks: readonly bigint[],
  { fromHeight, fromSlot }: Life,
  lastHeight: bigint | undefined,
): number | undefined {
  if (fromHeight !== undefined && lastHeight === undefined) return undefined
  const needed = fromHeight === undefined || lastHeight === undefined ? 1n : lastHeight - fromHeight + 1n
  const byHeight = Math.max(0, blocks.length - Number(needed > 1n ? needed : 1n))
  if (fromSlot === undefined) return byHeight
  const bySlot = Math.max(
    0,
    blocks.findLastIndex((slot) => slot <= fromSlot),
  )
  return Math.min(byHeight, bySlot)
}

function startsEarlyEnough({ fromHeight, fromSlot }: Life, slot: bigint, height: bigint): boolean {
  // Nothing is older than the first block of all.
  if (slot === 0n) return true
  return (fromHeight === undefined || height <= fromHeight) && (fromSlot === undefined || slot <= fromSlot)
}

function endsLateEnough({ life: { toHeight }, asOf }: Span, slot: bigint, height: bigint): boolean {
  return slot >= asOf || (toHeight !== undefined && height >= toHeight)
}
