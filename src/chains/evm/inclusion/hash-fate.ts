import type { Receipt } from '../../answer.ts'
import type { RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { toReceipt } from '../inspect.ts'
import { readCount } from '../quantity.ts'

/**
 * The knowledge of one node about one hash. `mined`: a block holds it, and the node has deleted receipts of that age · `known`: the node
 * has it in no block · `null`: the node has neither transaction nor receipt, or has them no longer · `unclear`: the node did not tell.
 */
export type HashFate =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'mined'; readonly blockNumber: bigint }
  | { readonly kind: 'known' }
  | { readonly kind: 'null' }
  | { readonly kind: 'unclear' }

/** Returns the calls for each hash, whose replies `readFates` reads. */
export function fateCalls(hashes: readonly string[]): RpcCall[] {
  return hashes.flatMap((hash) => [
    { method: 'eth_getTransactionReceipt', params: [hash] },
    { method: 'eth_getTransactionByHash', params: [hash] },
  ])
}

/** Reads one node's replies to `fateCalls`, in the order of the hashes. */
export function readFates(replies: readonly RpcReply[]): HashFate[] {
  return Array.from({ length: replies.length / 2 }, (_, index) =>
    readFate(replies[2 * index] ?? NO_REPLY, replies[2 * index + 1] ?? NO_REPLY),
  )
}

const NO_REPLY: RpcReply = { kind: 'unknown', detail: 'no reply' }

function readFate(receiptReply: RpcReply, transactionReply: RpcReply): HashFate {
  const receipt = toReceipt({ reply: receiptReply, behind: false })
  if (receipt.kind === 'included') return receipt
  const transaction = readTransaction(transactionReply)
  if (transaction.kind !== 'null') return transaction
  return receipt.kind === 'none' ? transaction : { kind: 'unclear' }
}

function readTransaction(reply: RpcReply): Exclude<HashFate, { kind: 'included' }> {
  if (reply.kind !== 'result') return { kind: 'unclear' }
  if (reply.result === null) return { kind: 'null' }
  const { hash, blockNumber } = reply.result as { hash?: unknown; blockNumber?: unknown }
  const height = readCount(blockNumber)
  if (height !== undefined) return { kind: 'mined', blockNumber: height }
  return typeof hash === 'string' ? { kind: 'known' } : { kind: 'unclear' }
}
