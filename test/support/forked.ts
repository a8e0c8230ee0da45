import type { Anvil } from './anvil.ts'
import type { WireEntry } from './lagging.ts'

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
