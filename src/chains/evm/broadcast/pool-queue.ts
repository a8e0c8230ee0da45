import type { TransactionSerialized } from 'viem'
import { bytesToHex, parseTransaction } from 'viem/utils'
import { larger } from '../../../lib/bigint.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import { HEIGHT, readCount } from '../read/quantity.ts'
import { readBroadcast } from './failures.ts'

/**
 * A transaction counts as queued after this many blocks, because a pool sorts itself again after each block.
 * Fewer blocks would raise fees for nothing.
 */
const QUEUED_BLOCKS = 3n

/** The memory holds at most this many transactions and forgets the oldest first. */
const MAX_REMEMBERED = 1_000

/**
 * Finds transactions that the nodes know and would not include although their nonce is next. A pool can keep
 * such a transaction among those that wait for an earlier nonce after a reorganisation; the same bytes do not
 * move it, other bytes with its nonce do.
 */
export interface PoolQueueWatch {
  /**
   * Sends known bytes to every endpoint; returns true when every one that answers has kept them queued for
   * some blocks.
   */
  isQueued(raw: Uint8Array): Promise<boolean>
}

/** Creates a watch that has seen nothing yet. A lost memory delays the finding by some blocks. */
export function createPoolQueueWatch(client: PooledClient): PoolQueueWatch {
  /** The block in which each transaction was first found queued, by its bytes. */
  const since = new BoundedMap<string, bigint>(MAX_REMEMBERED)
  return {
    isQueued: async (raw) => {
      const bytes = bytesToHex(raw)
      const head = await queuedAt(client, bytes)
      if (head === undefined) {
        since.delete(bytes)
        return false
      }
      const first = since.get(bytes) ?? head
      since.set(bytes, first)
      return head >= first + QUEUED_BLOCKS
    },
  }
}

/**
 * Returns the highest block of the endpoints when all that answer keep the bytes queued; undefined otherwise
 * (I6).
 */
async function queuedAt(client: PooledClient, raw: `0x${string}`): Promise<bigint | undefined> {
  const sender = await senderOf(raw)
  if (sender === undefined) return undefined
  const count = (tag: string) => ({ method: 'eth_getTransactionCount', params: [sender.address, tag] })
  const calls = [
    HEIGHT.call,
    { method: 'eth_sendRawTransaction', params: [raw] },
    count('latest'),
    count('pending'),
  ]
  const { endpoints } = await askEverywhere(client, calls)
  const answers = endpoints.flatMap(({ replies: [height, sent, ...counts] }) => {
    const [head, latest, pending] = [height, ...counts].map((reply) =>
      reply?.kind === 'result' ? readCount(reply.result) : undefined,
    )
    if (head === undefined || latest === undefined || pending === undefined || sent === undefined) return []
    const result = readBroadcast(sent)
    const knows = result.kind === 'accepted' && result.known === true
    return [{ head, isQueued: knows && latest === sender.nonce && pending <= latest }]
  })
  if (answers.length === 0 || answers.some(({ isQueued }) => !isQueued)) return undefined
  return answers.map(({ head }) => head).reduce(larger)
}

async function senderOf(
  raw: `0x${string}`,
): Promise<{ readonly address: string; readonly nonce: bigint } | undefined> {
  // Only the whole of viem has this function, and loading that would take a tenth of every start.
  const { recoverTransactionAddress } = await import('viem')
  try {
    const address = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized })
    return { address, nonce: BigInt(parseTransaction(raw).nonce ?? 0) }
  } catch {
    return undefined // viem throws for bytes that are no transaction.
  }
}
