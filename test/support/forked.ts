import type { Anvil } from './anvil.ts'

/** The knowledge of a replica that has not learned of a reorganisation: the undone blocks, and the state on them. */
export interface Fork {
  readonly head: number
  /** By height; the lowest is the first that was undone. */
  readonly blocks: ReadonlyMap<number, WireBlock>
  readonly receipts: ReadonlyMap<string, unknown>
  /** By method and lower-case address. */
  readonly accounts: ReadonlyMap<string, unknown>
  /** The replica learns of the reorganisation when the rest of the network is this many blocks ahead. */
  readonly staysFor: number
}

interface WireBlock {
  readonly transactions: readonly { readonly hash: string }[]
}

interface ForkOptions {
  readonly depth: number
  readonly addresses: readonly string[]
  readonly staysFor: number
}

const ACCOUNT_READS = ['eth_getTransactionCount', 'eth_getBalance'] as const

/** Remembers the newest blocks; to be called before they are undone. */
export async function captureFork(anvil: Anvil, { depth, addresses, staysFor }: ForkOptions): Promise<Fork> {
  const head = Number(await anvil.rpc<string>('eth_blockNumber'))
  const blocks = new Map<number, WireBlock>()
  for (let height = head - depth + 1; height <= head; height += 1) {
    const tag = `0x${height.toString(16)}`
    blocks.set(height, await anvil.rpc<WireBlock>('eth_getBlockByNumber', [tag, true]))
  }
  const receipts = new Map<string, unknown>()
  for (const { hash } of [...blocks.values()].flatMap((block) => block.transactions)) {
    receipts.set(hash, await anvil.rpc('eth_getTransactionReceipt', [hash]))
  }
  const accounts = new Map<string, unknown>()
  for (const address of addresses) {
    for (const method of ACCOUNT_READS) {
      accounts.set(accountKey(method, address), await anvil.rpc(method, [address, 'latest']))
    }
  }
  return { head, blocks, receipts, accounts, staysFor }
}

/** Returns the answer of that replica. `reply` is that of the real node, and right for all data that was not undone. */
export function answeredOnFork(call: WireEntry, reply: WireEntry, fork: Fork): WireEntry {
  const [first] = call.params ?? []
  switch (call.method) {
    case 'eth_blockNumber':
      return { ...reply, result: `0x${fork.head.toString(16)}` }
    case 'eth_getBlockByNumber':
      return blockOnFork(
        { height: first === 'latest' ? fork.head : Number(first), whole: call.params?.[1] === true },
        reply,
        fork,
      )
    case 'eth_getTransactionReceipt':
      return receiptOnFork(String(first), reply, fork)
    case 'eth_getTransactionByHash':
      return transactionOnFork(String(first), reply, fork)
    case 'eth_getTransactionCount':
    case 'eth_getBalance': {
      if (call.params?.[1] !== 'latest') return reply
      const known = fork.accounts.get(accountKey(call.method, String(first)))
      return known === undefined ? reply : { ...reply, result: known }
    }
    default:
      return reply
  }
}

function blockOnFork(
  { height, whole }: { readonly height: number; readonly whole: boolean },
  reply: WireEntry,
  fork: Fork,
): WireEntry {
  if (height > fork.head) return { ...reply, result: null }
  const block = fork.blocks.get(height)
  if (block === undefined) return reply
  return {
    ...reply,
    result: whole ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) },
  }
}

/** The transaction is in the same block as its receipt. */
function transactionOnFork(hash: string, reply: WireEntry, fork: Fork): WireEntry {
  const undone = [...fork.blocks.values()]
    .flatMap(({ transactions }) => transactions)
    .find((one) => one.hash === hash)
  if (undone !== undefined) return { ...reply, result: undone }
  const height = Number((reply.result as { blockNumber?: string | null } | null)?.blockNumber ?? 0)
  return height > fork.head - fork.blocks.size ? { ...reply, result: null } : reply
}

function receiptOnFork(hash: string, reply: WireEntry, fork: Fork): WireEntry {
  const undone = fork.receipts.get(hash)
  if (undone !== undefined) return { ...reply, result: undone }
  const height = Number((reply.result as { blockNumber?: string } | null)?.blockNumber ?? 0)
  return height > fork.head - fork.blocks.size ? { ...reply, result: null } : reply
}

function accountKey(method: string, address: string): string {
  return `${method} ${address.toLowerCase()}`
}

/** A JSON-RPC call or reply as it stands in an HTTP body. */
export interface WireEntry {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: unknown
  readonly error?: unknown
}

/** The index of the block tag in the parameters of the reads that have one. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getTransactionCount: 1,
  eth_getBalance: 1,
  eth_feeHistory: 1,
}

/** The same question, as a replica whose newest block is `head` would understand it. */
export function askedAt(call: WireEntry, head: number): WireEntry {
  const index = BLOCK_PARAMETER[call.method ?? '']
  if (index === undefined || call.params?.[index] !== 'latest') return call
  return { ...call, params: call.params.with(index, hex(head)) }
}

/** Returns the answer of that replica: it has no block, no receipt and no transaction above its own newest block. */
export function answeredAt(call: WireEntry, reply: WireEntry, head: number): WireEntry {
  if (call.method === 'eth_blockNumber') return { ...reply, result: hex(head) }
  const height = heightOf(call, reply.result)
  return height !== undefined && height > head ? { ...reply, result: null } : reply
}

function heightOf({ method }: WireEntry, result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { blockNumber, number } = result as { blockNumber?: string | null; number?: string }
  if (method === 'eth_getBlockByNumber') return Number(number)
  if (method !== 'eth_getTransactionReceipt' && method !== 'eth_getTransactionByHash') return undefined
  return blockNumber ? Number(blockNumber) : undefined
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}

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
