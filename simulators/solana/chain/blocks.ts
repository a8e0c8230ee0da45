import type { AppliedTransaction, Block } from './block.ts'

/** The blocks of the fork that the network is on. Places count from 0, the oldest block. */
export interface Blocks {
  readonly length: number
  /** The block at this place; the oldest where there is none below, the newest where there is none above. */
  near(index: number): Block
  last(): Block
  push(block: Block): void
  /** Takes the newest block away. */
  pop(): Block
  /** Returns the index of the block with this blockhash. */
  positionOf(blockhash: string): number | undefined
  /** Returns the index of the block of this slot. */
  indexOfSlot(slot: bigint): number | undefined
  /** The blocks between two slots, both included. */
  between(from: bigint, to: bigint): Block[]
  /** The transaction with this signature. */
  find(signature: string): AppliedTransaction | undefined
  /** Returns the index of the block with a transaction of this message. */
  indexOfMessage(hash: string): number | undefined
  all(): readonly Block[]
}

/** A chain that begins with `first`. */
export function createBlocks(first: Block): Blocks {
  const blocks = [first]
  const positions = new Map([[first.blockhash, 0]])
  const slots = new Map([[first.slot, 0]])
  const transactions = new Map<string, AppliedTransaction>()
  const messages = new Map<string, number>()
  const near = (index: number) => blocks[Math.max(0, Math.min(index, blocks.length - 1))] ?? first
  return {
    get length() {
      return blocks.length
    },
    near,
    last: () => near(blocks.length - 1),
    push(block) {
      positions.set(block.blockhash, blocks.length)
      slots.set(block.slot, blocks.length)
      for (const applied of block.transactions) {
        transactions.set(applied.signature, applied)
        if (applied.mayComeAgain !== true) messages.set(applied.transaction.message.hash, blocks.length)
      }
      blocks.push(block)
    },
    pop() {
      const block = blocks.length > 1 ? blocks.pop() : undefined
      if (block === undefined) throw new Error('the first block cannot be taken away')
      positions.delete(block.blockhash)
      slots.delete(block.slot)
      for (const { signature, transaction } of block.transactions) {
        transactions.delete(signature)
        messages.delete(transaction.message.hash)
      }
      return block
    },
    positionOf: (blockhash) => positions.get(blockhash),
    indexOfSlot: (slot) => slots.get(slot),
    between(from, to) {
      const found: Block[] = []
      for (let index = firstIndexFrom(blocks, from); index < blocks.length; index += 1) {
        const block = near(index)
        if (block.slot > to) break
        found.push(block)
      }
      return found
    },
    find: (signature) => transactions.get(signature),
    indexOfMessage: (hash) => messages.get(hash),
    all: () => blocks,
  }
}

/** Returns the index of the first block of this slot or a later one; the length where there is none. */
function firstIndexFrom(blocks: readonly Block[], slot: bigint): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle]?.slot ?? slot) < slot) low = middle + 1
    else high = middle
  }
  return low
}
