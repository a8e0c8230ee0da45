import type { PooledClient } from '../rpc/rpc.ts'
import { decisiveSlots, type LedgerReading } from './coverage.ts'
import { askEverywhere } from './everywhere.ts'
import {
  blocksCalls,
  heightCall,
  isUnsupported,
  MINIMUM_LEDGER_SLOT,
  NEWEST_HEIGHT,
  readBlocks,
  readHeight,
  readSlot,
} from './ledger.ts'
import type { Life } from './life.ts'

/** Which blocks are asked for, and why. */
export interface LedgerQuestion {
  /** The first and the last slot, both included. */
  readonly from: bigint
  readonly to: bigint
  /** Slot that an endpoint has to have finalized to be heard. */
  readonly asOf: bigint
  readonly life: Life
  /** Heights by slot. What is learned on the way is added. */
  readonly heights: Map<bigint, bigint>
}

/** What an endpoint told of its ledger. */
export type ToldOfLedger = LedgerReading | 'unknown' | 'unsupported'

/**
 * What each endpoint tells of its ledger, by url. `unknown`: it is behind, silent or unreadable. Where a ledger begins is asked last,
 * because old blocks are given up at any time.
 */
export async function readLedgers(
  client: PooledClient,
  { from, to, asOf, life, heights }: LedgerQuestion,
): Promise<ReadonlyMap<string, ToldOfLedger>> {
  const listed = await askEverywhere(client, blocksCalls(from, to), asOf)
  const lists = listed.map(({ url, replies }) => ({
    url,
    replies,
    blocks: readBlocks(replies, { from, to }),
  }))
  const decisive = () => lists.flatMap(({ blocks = [] }) => decisiveSlots(blocks, life, heights))
  const [begun] = await Promise.all([
    askEverywhere(client, [MINIMUM_LEDGER_SLOT, NEWEST_HEIGHT], asOf),
    learnHeights(client, decisive(), heights),
  ])
  // The heights of the last blocks tell which are the first ones.
  await learnHeights(client, decisive(), heights)
  const begins = new Map(begun.map(({ url, replies }) => [url, replies]))
  return new Map(
    lists.map(({ url, replies, blocks }): [string, ToldOfLedger] => {
      const told = begins.get(url) ?? []
      if ([...replies, ...told].some(isUnsupported)) return [url, 'unsupported']
      const begin = readSlot(told[0])
      if (begin === undefined || [...replies, ...told].some(({ behind }) => behind)) return [url, 'unknown']
      return [url, { askedFrom: from, begin, blocks, newestHeight: readSlot(told[1]) }]
    }),
  )
}

/** Heights of finalized blocks are the same everywhere, so anybody may tell them; where two differ, none counts. */
async function learnHeights(
  client: PooledClient,
  slots: readonly bigint[],
  heights: Map<bigint, bigint>,
): Promise<void> {
  const wanted = [...new Set(slots)].filter((slot) => !heights.has(slot))
  if (wanted.length === 0) return
  const answers = await client.sendEverywhere(wanted.map(heightCall), 0n)
  for (const [index, slot] of wanted.entries()) {
    const told = new Set(answers.flatMap((replies) => readHeight(replies[index]) ?? []))
    const [height] = told
    if (height !== undefined && told.size === 1) heights.set(slot, height)
  }
}
