import type { WireEntry } from './lagging.ts'

/**
 * The data that a node has deleted, or not indexed yet. An absent height means that nothing is missing. geth keeps the state of 128 blocks
 * without `--gcmode archive`, and the index of `--history.transactions`; Reth with `--full` keeps receipts of 10,064.
 */
export interface Pruning {
  /** Receipts of blocks below this height: `null`, while their transactions are known (Reth). */
  readonly receiptsBelow?: number
  /** Transactions and receipts of blocks below this height: `null` (geth, outside its transaction index). */
  readonly transactionsBelow?: number
  /** Transactions and receipts of one block that its index lost: `null`. */
  readonly hole?: number
  /** State of blocks below this height: the error of a missing trie node. */
  readonly stateBelow?: number
  /** The node is building its index: then a missing transaction is an error instead of `null` (`internal/ethapi/errors.go` of geth). */
  readonly indexing?: boolean
}

const INDEXING = { code: -32000, message: 'transaction indexing is in progress' }

/** Returns the answer of a node that has deleted this data. */
export function answeredPruned(call: WireEntry, reply: WireEntry, pruning: Pruning): WireEntry {
  switch (call.method) {
    case 'eth_getTransactionReceipt':
      return missing(reply, pruning, isGone(pruning, 'receipts', reply))
    case 'eth_getTransactionByHash':
      return missing(reply, pruning, isGone(pruning, 'transactions', reply))
    case 'eth_getBlockReceipts':
      return Number(call.params?.[0]) < floorOf(pruning, 'receipts') ? { ...reply, result: null } : reply
    case 'eth_getTransactionCount':
    case 'eth_getBalance':
      return stateOf(call, reply, pruning)
    default:
      return reply
  }
}

function isGone(pruning: Pruning, of: 'receipts' | 'transactions', reply: WireEntry): boolean {
  const height = blockOf(reply)
  return height < floorOf(pruning, of) || height === pruning.hole
}

function floorOf({ receiptsBelow = 0, transactionsBelow = 0 }: Pruning, of: 'receipts' | 'transactions') {
  return of === 'receipts' ? Math.max(receiptsBelow, transactionsBelow) : transactionsBelow
}

/** Returns the height of a transaction; one in no block is above all heights. */
function blockOf({ result }: WireEntry): number {
  const { blockNumber } = (result ?? {}) as { blockNumber?: string | null }
  return blockNumber ? Number(blockNumber) : Number.POSITIVE_INFINITY
}

function missing({ result: told, ...reply }: WireEntry, { indexing }: Pruning, deleted: boolean): WireEntry {
  const result = deleted ? null : told
  return indexing === true && result === null ? { ...reply, error: INDEXING } : { ...reply, result }
}

function stateOf(call: WireEntry, reply: WireEntry, { stateBelow = 0 }: Pruning): WireEntry {
  const tag = String(call.params?.[1])
  if (!tag.startsWith('0x') || Number(tag) >= stateBelow) return reply
  const { result: _, ...rest } = reply
  return {
    ...rest,
    error: { code: -32000, message: 'missing trie node 5f0e4d (path ) state 0x5f0e4d is not available' },
  }
}
