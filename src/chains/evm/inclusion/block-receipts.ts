import { numberToHex } from 'viem/utils'
import type { ReceiptAnswer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { readReceipts, toReceipt } from '../inspect.ts'

/**
 * From this many hashes on, the service reads a whole block instead of each receipt (`eth_getBlockReceipts`, execution-apis). Below it, the
 * block's other receipts would cost more than the call saves.
 */
const WORTH_A_BLOCK = 20

/**
 * The service looks through the blocks from the newest down, until this many had too few of the hashes to be worth it; it asks for the remaining
 * hashes one by one. With less, an account that sends little beside others finds its receipts in no block; with more, hashes that no block
 * includes cost a call for each.
 */
const MOST_POOR_BLOCKS = 4

/** Reads receipts in the order of the hashes: many of them from whole blocks first, the rest one by one. */
export async function readManyReceipts(
  client: PooledClient,
  hashes: readonly string[],
  asOf?: bigint,
): Promise<ReceiptAnswer[]> {
  const found =
    asOf === undefined ? new Map<string, ReceiptAnswer>() : await readFromBlocks(client, hashes, asOf)
  const rest = hashes.filter((hash) => !found.has(hash))
  const answers = await readReceipts(client, rest, asOf)
  for (const [index, hash] of rest.entries()) found.set(hash, answers[index] ?? { kind: 'unknown' })
  return hashes.map((hash) => found.get(hash) ?? { kind: 'unknown' })
}

/**
 * Looks for these hashes in the newest blocks. Only a hit counts, because a missing hash may be in another block. Nodes without the method
 * cost one call.
 */
async function readFromBlocks(
  client: PooledClient,
  hashes: readonly string[],
  newest: bigint,
): Promise<Map<string, ReceiptAnswer>> {
  const wanted = new Set(hashes)
  const found = new Map<string, ReceiptAnswer>()
  let poorBlocks = 0
  for (let number = newest; number > 0n && poorBlocks < MOST_POOR_BLOCKS; number -= 1n) {
    if (wanted.size - found.size < WORTH_A_BLOCK) break
    const receipts = await readBlock(client, number)
    if (receipts === undefined) break
    const before = found.size
    for (const answer of receipts) {
      if (answer.kind === 'included' && wanted.has(answer.receipt.hash))
        found.set(answer.receipt.hash, answer)
    }
    if (found.size - before < WORTH_A_BLOCK) poorBlocks += 1
  }
  return found
}

async function readBlock(client: PooledClient, number: bigint): Promise<ReceiptAnswer[] | undefined> {
  const call = { method: 'eth_getBlockReceipts', params: [numberToHex(number)] }
  const [endpointReply] = await client.sendAsOf([call], number)
  if (endpointReply?.reply.kind !== 'result' || !Array.isArray(endpointReply.reply.result)) return undefined
  return endpointReply.reply.result.map((result: unknown) =>
    toReceipt({ reply: { kind: 'result', result }, behind: endpointReply.behind }),
  )
}
