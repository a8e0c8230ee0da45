import type { PooledClient } from '../../rpc/rpc.ts'
import type { BlockHeight, Slot } from '../content.ts'
import type { Finalized } from '../read/head.ts'
import type { InclusionWindow } from './inclusion-window.ts'
import {
  askEverywhere,
  blocksCalls,
  heightCall,
  heightIn,
  isUnsupported,
  MINIMUM_LEDGER_SLOT,
  readBlocks,
  slotIn,
} from './ledger.ts'

/** The blocks of one round of questions. */
interface LedgerQuestion {
  /** The first and the last slot, both included. */
  readonly from: Slot
  readonly to: Slot
  /** An endpoint counts only when it has finalized this slot. */
  readonly asOf: Slot
  readonly life: InclusionWindow
  /** A finalized slot and its height, which bound the possible heights of other slots. */
  readonly head: Finalized
  /** Heights by slot. The round adds those that it learns. */
  readonly heights: Map<Slot, BlockHeight>
}

/** The answer of an endpoint about its ledger. */
type ToldOfLedger = LedgerReading | 'unknown' | 'unsupported'

/**
 * Reads the ledger of each endpoint, by url. `unknown`: it is behind, silent or unreadable. The beginning of
 * a ledger is read last, because nodes delete old blocks at any time.
 */
export async function readLedgers(
  client: PooledClient,
  { from, to, asOf, life, head, heights }: LedgerQuestion,
): Promise<ReadonlyMap<string, ToldOfLedger>> {
  const listed = await askEverywhere(client, blocksCalls(from, to), asOf)
  const lists = listed.map(({ url, replies }) => ({
    url,
    replies,
    blocks: readBlocks(replies, { from, to }),
  }))
  const told: TellsOfHeights = new Map()
  const learn = async () => {
    const decisive = lists.flatMap(({ blocks = [] }) => decisiveSlots(blocks, life, heights))
    await learnHeights(client, decisive, { told, head, heights })
  }
  const [begun] = await Promise.all([askEverywhere(client, [MINIMUM_LEDGER_SLOT], asOf), learn()])
  // The heights of the last blocks determine the first ones.
  await learn()
  const begins = new Map(begun.map(({ url, replies }) => [url, replies]))
  return new Map(
    lists.map(({ url, replies, blocks }): [string, ToldOfLedger] => {
      const last = begins.get(url) ?? []
      if ([...replies, ...last].some(isUnsupported)) return [url, 'unsupported']
      const begin = slotIn(last[0])
      if (begin === undefined || [...replies, ...last].some(({ behind }) => behind)) return [url, 'unknown']
      return [url, { askedFrom: from, begin, blocks, told: told.get(url) ?? new Map() }]
    }),
  )
}

/** The heights that each endpoint reported, by url and slot; null if it does not know. */
type TellsOfHeights = Map<string, Map<Slot, BlockHeight | null>>

interface Learned {
  readonly told: TellsOfHeights
  readonly head: Finalized
  /** Heights by slot that no endpoint contradicts. */
  readonly heights: Map<Slot, BlockHeight>
}

/**
 * Learns heights. Heights of finalized blocks are the same everywhere, so where two endpoints differ, neither
 * counts.
 */
async function learnHeights(
  client: PooledClient,
  slots: readonly Slot[],
  { told, head, heights }: Learned,
): Promise<void> {
  const asked = new Set([...told.values()].flatMap((own) => [...own.keys()]))
  const wanted = [...new Set(slots)].filter((slot) => !asked.has(slot))
  if (wanted.length === 0) return
  const endpoints = await askEverywhere(client, wanted.map(heightCall), 0n)
  for (const { url, replies } of endpoints) {
    const own = told.get(url) ?? new Map<Slot, BlockHeight | null>()
    told.set(url, own)
    for (const [index, slot] of wanted.entries()) {
      const height = heightIn(replies[index])
      if (height === null || (height !== undefined && isPossible(slot, height, head))) own.set(slot, height)
    }
  }
  for (const slot of wanted) {
    const before = heights.get(slot)
    const now = [...told.values()].flatMap((own) => own.get(slot) ?? [])
    const heard = new Set(before === undefined ? now : [before, ...now])
    const [height] = heard
    if (heard.size === 1 && height !== undefined) heights.set(slot, height)
    else heights.delete(slot)
  }
}

/** Between two slots there are at most as many blocks as slots, and at least the later one. */
function isPossible(slot: Slot, height: BlockHeight, head: Finalized): boolean {
  const slots = head.slot - slot
  const blocks = head.height - height
  if (height < 0n) return false
  if (slots > 0n) return blocks > 0n && blocks <= slots
  return blocks <= 0n && blocks >= slots && (slots < 0n || blocks === 0n)
}

/**
 * A node's own ledger begins at the second rooted block after the oldest slot that it reports (agave
 * `blockstore.rs` `get_first_available_block`); below that it uses its long-term storage. This many slots
 * certainly contain two blocks.
 */
const LEDGER_EDGE = 32n

/**
 * A node may know from the votes that a slot is finalized before it lists the slot as rooted itself. A slot
 * that it does not list this many slots later is missing from its ledger.
 */
const ROOT_LAG = 300n

/** The answers of an endpoint about its ledger for a range of slots. */
interface LedgerReading {
  /** The first slot of the range. */
  readonly askedFrom: Slot
  /** The oldest slot of the node's own ledger, read after everything else. */
  readonly begin: Slot
  /**
   * Heights that the endpoint reported itself, null where it lists a block without its content: a node that
   * was started with transaction history only later has older blocks without their transactions.
   */
  readonly told: ReadonlyMap<Slot, BlockHeight | null>
  /** The slots of its finalized blocks in order; undefined if the node could not list them. */
  readonly blocks: readonly Slot[] | undefined
}

/** Known heights of blocks by their slots. They are the same on every node. */
type Heights = ReadonlyMap<Slot, BlockHeight>

/**
 * The knowledge of a node about the blocks that could include a transaction. `complete`: it knows the signatures of all of them · `edge`:
 * its ledger begins above the first slot of the range, so the next round starts at `from` · `late`: the range begins too late, so the next
 * round starts further back · `pruned`: its ledger begins too late · `hole`: blocks are missing, with their number where it is known ·
 * `unknown`: heights or newest blocks are not known yet.
 */
export type Coverage =
  | { readonly kind: 'complete' }
  | { readonly kind: 'edge'; readonly from: Slot }
  | { readonly kind: 'late' }
  | { readonly kind: 'pruned'; readonly begin: Slot }
  | { readonly kind: 'hole'; readonly missing?: bigint }
  | { readonly kind: 'unknown' }

/** The range to cover: a life, up to this slot, which has a finalized block. */
export interface Span {
  readonly life: InclusionWindow
  readonly asOf: Slot
}

/**
 * Decides whether a ledger covers the range. The status cache of a node proves nothing: a snapshot of
 * Firedancer contains no signatures (`src/discof/backup/fd_txncache_writer.c`), and a node that starts on it
 * does not know what the newest blocks before it included.
 *
 * Heights count blocks and slots do not, so no block is missing between two blocks when the number of blocks
 * is the difference of their heights. A skipped slot looks like a lost one; a height is never skipped.
 */
export function coverageOf(reading: LedgerReading, span: Span, heights: Heights): Coverage {
  const { askedFrom, begin, blocks, told } = reading
  // Below the node's own ledger another storage may have answered, and its errors look like an unknown
  // signature.
  if (begin > 0n && begin + LEDGER_EDGE > askedFrom)
    return { kind: 'edge', from: (begin + LEDGER_EDGE) as Slot }
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

/**
 * Returns the slots whose heights `coverageOf` needs; the height of the last one decides which slot is the
 * first.
 */
function decisiveSlots(blocks: readonly Slot[], life: InclusionWindow, heights: Heights): Slot[] {
  const last = blocks.at(-1)
  if (last === undefined) return []
  const start = startIndex(blocks, life, heights.get(last))
  const first = start === undefined ? undefined : blocks[start]
  return first === undefined ? [last] : [last, first]
}

/**
 * Returns the index of the block at which the life begins if no block after it is missing; the first index
 * where the list begins too late. Returns undefined while the height of the last block is needed and not
 * known.
 */
function startIndex(
  blocks: readonly Slot[],
  { fromHeight, fromSlot }: InclusionWindow,
  lastHeight: BlockHeight | undefined,
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

function startsEarlyEnough(
  { fromHeight, fromSlot }: InclusionWindow,
  slot: Slot,
  height: BlockHeight,
): boolean {
  // No block is older than the genesis block.
  if (slot === 0n) return true
  return (fromHeight === undefined || height <= fromHeight) && (fromSlot === undefined || slot <= fromSlot)
}

function endsLateEnough({ life: { toHeight }, asOf }: Span, slot: Slot, height: BlockHeight): boolean {
  return slot >= asOf || (toHeight !== undefined && height >= toHeight)
}
