import type { PooledClient } from '../../rpc/rpc.ts'
import type { Finalized } from '../read/head.ts'
import { decisiveSlots, type LedgerReading } from './coverage.ts'
import { askEverywhere } from './everywhere.ts'
import {
  blocksCalls,
  heightCall,
  isUnsupported,
  MINIMUM_LEDGER_SLOT,
  readBlocks,
  readHeight,
  readSlot,
} from './ledger.ts'
import type { Life } from './life.ts'

/** The blocks of one round of questions. */
export interface LedgerQuestion {
  /** The first and the last slot, both included. */
  readonly from: bigint
  readonly to: bigint
  /** An endpoint counts only when it has finalized this slot. */
  readonly asOf: bigint
  readonly life: Life
  /** A finalized slot and its height, which bound the possible heights of other slots. */
  readonly head: Finalized
  /** Heights by slot. The round adds those that it learns. */
  readonly heights: Map<bigint, bigint>
}

/** The answer of an endpoint about its ledger. */
export type ToldOfLedger = LedgerReading | 'unknown' | 'unsupported'

/**
 * Reads the ledger of each endpoint, by url. `unknown`: it is behind, silent or unreadable. The beginning of a ledger is read last, because
 * nodes delete old blocks at any time.
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
  // The heights of the last blocks tell which blocks are the first ones.
  await learn()
  const begins = new Map(begun.map(({ url, replies }) => [url, replies]))
  return new Map(
    lists.map(({ url, replies, blocks }): [string, ToldOfLedger] => {
      const last = begins.get(url) ?? []
      if ([...replies, ...last].some(isUnsupported)) return [url, 'unsupported']
      const begin = readSlot(last[0])
      if (begin === undefined || [...replies, ...last].some(({ behind }) => behind)) return [url, 'unknown']
      return [url, { askedFrom: from, begin, blocks, told: told.get(url) ?? new Map() }]
    }),
  )
}

/** The heights that each endpoint reported, by url and slot; null where it cannot tell. */
type TellsOfHeights = Map<string, Map<bigint, bigint | null>>

interface Learned {
  readonly told: TellsOfHeights
  readonly head: Finalized
  /** Heights by slot that no endpoint contradicts. */
  readonly heights: Map<bigint, bigint>
}

/** Learns heights. Heights of finalized blocks are the same everywhere, so where two endpoints differ, neither counts. */
async function learnHeights(
  client: PooledClient,
  slots: readonly bigint[],
  { told, head, heights }: Learned,
): Promise<void> {
  const asked = new Set([...told.values()].flatMap((own) => [...own.keys()]))
  const wanted = [...new Set(slots)].filter((slot) => !asked.has(slot))
  if (wanted.length === 0) return
  const endpoints = await askEverywhere(client, wanted.map(heightCall), 0n)
  for (const { url, replies } of endpoints) {
    const own = told.get(url) ?? new Map<bigint, bigint | null>()
    told.set(url, own)
    for (const [index, slot] of wanted.entries()) {
      const height = readHeight(replies[index])
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
function isPossible(slot: bigint, height: bigint, head: Finalized): boolean {
  const slots = head.slot - slot
  const blocks = head.height - height
  if (height < 0n) return false
  if (slots > 0n) return blocks > 0n && blocks <= slots
  return blocks <= 0n && blocks >= slots && (slots < 0n || blocks === 0n)
}
