import type { Address } from '@solana/kit'
import type { Standpoint } from './chain/age.ts'
import type { AppliedTransaction, Block } from './chain/block.ts'
import { accountAt, type Chain, standpointAt } from './chain/chain.ts'
import type { AccountState } from './runtime/account.ts'

/** How sure a block is. */
export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** An RPC node: the network, seen from as many blocks ago as this node is behind. */
export interface Node {
  readonly chain: Chain
  /** Blocks. */
  readonly behind: number
  /** Place of the newest block that is as sure as this. */
  place(commitment: Commitment): number
  /** The newest block that is as sure as this. */
  block(commitment: Commitment): Block
  /** The oldest block that it still remembers. */
  oldest(): Block
  /** Whether that is not older than `oldest`. */
  remembers(slot: bigint): boolean
  account(address: Address, commitment: Commitment): AccountState | undefined
  standpoint(commitment: Commitment): Standpoint
  /** A transaction in a block that it knows, and where that stands. */
  find(signature: string): { applied: AppliedTransaction; place: number } | undefined
}

/** A node that is `behind` blocks late. */
export function createNode(chain: Chain, behind: number): Node {
  const { blocks, rules } = chain
  const place = (commitment: Commitment) => {
    const newest = Math.max(0, blocks.length - 1 - behind)
    if (commitment === 'processed') return newest
    const finalized = Math.max(0, newest - rules.finalizedLag, chain.root - behind)
    return commitment === 'finalized' ? finalized : Math.max(finalized, newest - rules.confirmedLag)
  }
  const oldest = () => blocks.near(place('processed') - rules.historyBlocks + 1)
  return {
    chain,
    behind,
    place,
    block: (commitment) => blocks.near(place(commitment)),
    oldest,
    remembers: (slot) => slot >= oldest().slot,
    account: (address, commitment) => accountAt(chain, address, place(commitment)),
    standpoint: (commitment) => standpointAt(chain, place(commitment)),
    find(signature) {
      const applied = blocks.find(signature)
      const found = applied === undefined ? undefined : blocks.placeOfSlot(applied.slot)
      return applied && found !== undefined && found <= place('processed')
        ? { applied, place: found }
        : undefined
    },
  }
}
