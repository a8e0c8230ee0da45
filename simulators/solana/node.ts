import type { Address } from '@solana/kit'
import type { Standpoint } from './chain/age.ts'
import type { AppliedTransaction, Block } from './chain/block.ts'
import { accountAt, type Chain, standpointAt } from './chain/chain.ts'
import { createLedger, isKept, isRooted, type Ledger, type LedgerOptions } from './ledger.ts'
import type { AccountState } from './runtime/account.ts'

/** The commitment of a block. */
export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** The data that a long-term storage is asked for. */
export type Stored = 'blocks' | 'signatures'

/** An RPC node: the network, seen from as many blocks ago as this node is behind. */
export interface Node {
  readonly chain: Chain
  /** Blocks. */
  readonly behind: number
  readonly keepsHistory: boolean
  readonly longTermStorage: NonNullable<LedgerOptions['longTermStorage']>
  /** The ledger has fewer than two rooted blocks. */
  readonly fresh: boolean
  /** Place of the newest block that is as sure as this. */
  index(commitment: Commitment): number
  /** The newest block that is as sure as this. */
  block(commitment: Commitment): Block
  /** The oldest block of its own ledger. */
  oldest(): Block
  /** Returns true if its own ledger has the block. */
  holds(block: Block): boolean
  /** Returns true if its long-term storage answers questions for this data. */
  stores(what: Stored): boolean
  /** Returns true if its ledger has the block without its content. */
  lacksContent(block: Block): boolean
  /** Returns true if it can report the block, or the signatures in it, from its own ledger or from its long-term storage. */
  tellsOf(block: Block, what: Stored): boolean
  /** Returns true if its status cache has the signatures of the block, whatever its ledger contains. */
  remembers(block: Block): boolean
  /** Finalized blocks of its own ledger between two slots, both included, as it lists them. */
  rooted(from: bigint, to: bigint): Block[]
  account(address: Address, commitment: Commitment): AccountState | undefined
  standpoint(commitment: Commitment): Standpoint
  /** A transaction in a block up to its newest one, and where that stands; whether or not it can tell of it. */
  find(signature: string): { applied: AppliedTransaction; index: number } | undefined
}

/** A node that is `behind` blocks late. */
export function createNode(chain: Chain, behind: number, ledger: Ledger = createLedger()): Node {
  const { blocks, rules } = chain
  const { keepsHistory = true, longTermStorage = 'none', fresh = false } = ledger.options
  ledger.calls += 1
  const older = ledger.calls % 2 === 0 ? (ledger.options.olderBank ?? 0) : 0
  const index = (commitment: Commitment) => {
    const newest = Math.max(0, blocks.length - 1 - behind)
    const finalized = Math.max(0, newest - rules.finalizedLag, chain.root - behind)
    if (commitment === 'finalized') return finalized
    return Math.max(finalized, newest - older - (commitment === 'confirmed' ? rules.confirmedLag : 0))
  }
  const oldest = () => {
    const kept = ledger.options.historyBlocks ?? rules.historyBlocks
    return blocks.near(index('processed') - kept + 1)
  }
  const stores = (what: Stored) =>
    longTermStorage === 'working' || (longTermStorage === 'without_signatures' && what === 'blocks')
  const hasContent = ({ slot }: Block) => slot >= (ledger.options.historySince ?? 0n)
  const holds = (block: Block) => block.slot >= oldest().slot && isKept(ledger, block)
  return {
    chain,
    behind,
    keepsHistory,
    longTermStorage,
    fresh,
    index,
    block: (commitment) => blocks.near(index(commitment)),
    oldest,
    holds,
    stores,
    lacksContent: (block) => holds(block) && !hasContent(block),
    tellsOf: (block, what) =>
      (holds(block) && hasContent(block)) ||
      (stores(what) && block.slot <= blocks.near(index('finalized')).slot),
    remembers: (block) => {
      const place = blocks.indexOfSlot(block.slot) ?? 0
      const isRecent = index('finalized') - place < rules.recentBlocks
      return isRecent && block.slot > (ledger.signaturesAfter ?? -1n)
    },
    rooted: (from, to) =>
      blocks.between(from, to).filter((block) => block.slot >= oldest().slot && isRooted(ledger, block)),
    account: (address, commitment) => accountAt(chain, address, index(commitment)),
    standpoint: (commitment) => standpointAt(chain, index(commitment)),
    find(signature) {
      const applied = blocks.find(signature)
      const found = applied === undefined ? undefined : blocks.indexOfSlot(applied.slot)
      return applied && found !== undefined && found <= index('processed')
        ? { applied, index: found }
        : undefined
    },
  }
}
