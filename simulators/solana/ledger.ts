import type { Block } from './chain/block.ts'

/** The part of the chain that one node keeps, and its configuration. Changes count from the next call on. */
export interface LedgerOptions {
  /** Newest blocks that it has at all. Default: the network's `historyBlocks`. */
  historyBlocks?: number
  /** The node answers for old transactions (agave `--enable-rpc-transaction-history`, off by default). Default true. */
  keepsHistory?: boolean
  /** The first slot that it processed with transaction history; of older blocks it has not what is in them. Default: all. */
  historySince?: bigint
  /**
   * Google BigTable behind it (agave `--enable-rpc-bigtable-ledger-storage`): it knows every block. `failing`: it answers with
   * errors, which `getSignatureStatuses` and `getFirstAvailableBlock` pass over without a word. `without_signatures`: it does so
   * where it is asked for a signature. Default `none`.
   */
  longTermStorage?: 'none' | 'working' | 'failing' | 'without_signatures'
  /** Every second call is answered from a bank that is this many blocks older, unless that is finalized (agave rpc.rs `bank`). Default 0. */
  olderBank?: number
  /** Fewer than two rooted blocks: `getFirstAvailableBlock` answers 0 (blockstore.rs `get_first_available_block`). */
  fresh?: boolean
}

/** Slots of which a node has no blocks, both included. The last one is the snapshot's: it counts as rooted all the same. */
export interface Hole {
  readonly from: bigint
  readonly to: bigint
}

/** The ledger of one node. */
export interface Ledger {
  /** The number of calls that its node has answered. */
  calls: number
  readonly options: LedgerOptions
  readonly holes: Hole[]
  /** Its status cache has no signatures up to this slot, which is that of a snapshot without any. Absent for every other node. */
  signaturesAfter?: bigint
}

/**
 * The maker of a snapshot. The status cache of `agave` has the signatures of the newest blocks; that of `firedancer` has only the hashes of
 * their messages (`src/discof/backup/fd_txncache_writer.c`), and so does every node that starts on it.
 */
export type SnapshotMaker = 'agave' | 'firedancer'

/** A ledger without holes. */
export function createLedger(options: LedgerOptions = {}): Ledger {
  return { options, holes: [], calls: 0 }
}

/** Returns true if the block, with its transactions, is not in a hole. */
export function isKept({ holes }: Ledger, { slot }: Block): boolean {
  return holes.every(({ from, to }) => slot < from || slot > to)
}

/**
 * Returns true if the slot is listed as rooted. That of a snapshot is, although its block was never replayed here (agave
 * `mark_slots_as_if_rooted_normally_at_startup`).
 */
export function isRooted(ledger: Ledger, block: Block): boolean {
  return isKept(ledger, block) || ledger.holes.some(({ to }) => to === block.slot)
}
