import { hashBlock } from './block.ts'
import type { Chain } from './chain.ts'

/** One slot in so many had no block. */
const SKIPPED_EVERY = 20

/** Blocks that there were before anything happened: nothing is in them, so nothing has to run. */
export function makePast(chain: Chain, count: number, time: bigint): void {
  const { blocks, market } = chain
  for (let made = 0; made < count; made += 1) {
    const parent = blocks.last()
    if (made % SKIPPED_EVERY === SKIPPED_EVERY - 1) chain.nextSlot += 1n
    blocks.push({
      slot: chain.nextSlot,
      parentSlot: parent.slot,
      height: parent.height + 1n,
      blockhash: hashBlock(parent.blockhash, chain.nextSlot, []),
      parentBlockhash: parent.blockhash,
      time,
      transactions: [],
      prioritizationFee: market.recentPrice,
    })
    chain.nextSlot += 1n
  }
  chain.root = Math.max(chain.root, blocks.length - 1 - chain.rules.finalizedLag)
}
