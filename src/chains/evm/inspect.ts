import { numberToHex } from 'viem'
import type { Answer, Draft, Head, ReceiptAnswer } from '../chain.ts'
import type { RpcCall, RpcClient, RpcReply } from './client.ts'
import { readQuantity } from './quantity.ts'
import { decodeRevert } from './revert.ts'

/** The newest block. */
export async function readHead(client: RpcClient): Promise<Answer<Head>> {
  return fromBlock(await client.call('eth_getBlockByNumber', ['latest', false]))
}

/** The hash at a height in the chain as the node sees it now; unknown when the node has no such block. */
export async function readBlockHash(client: RpcClient, number: bigint): Promise<Answer<string>> {
  const block = fromBlock(await client.call('eth_getBlockByNumber', [numberToHex(number), false]))
  return block.kind === 'ok' ? { kind: 'ok', value: block.value.hash } : block
}

/** The next free nonce of each address in the newest block. */
export async function readNonces(client: RpcClient, addresses: readonly string[]): Promise<Answer<bigint>[]> {
  const replies = await client.send(
    addresses.map((address) => ({ method: 'eth_getTransactionCount', params: [address, 'latest'] })),
  )
  return replies.map(toQuantity)
}

/** The balance in the newest block, in wei. */
export async function readBalance(client: RpcClient, address: string): Promise<Answer<bigint>> {
  return toQuantity(await client.call('eth_getBalance', [address, 'latest']))
}

/** Receipts in the order of the hashes. */
export async function readReceipts(client: RpcClient, hashes: readonly string[]): Promise<ReceiptAnswer[]> {
  const calls: RpcCall[] = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  return (await client.send(calls)).map(toReceipt)
}

/** Runs the reverted content again on the state before its block. Nodes without that state cannot tell. */
export async function readRevertReason(
  client: RpcClient,
  { draft, from, block }: { draft: Draft; from: string; block: bigint },
): Promise<string | undefined> {
  const call = {
    from,
    ...(draft.to === undefined ? {} : { to: draft.to }),
    value: numberToHex(draft.value),
    data: draft.data,
    gas: numberToHex(draft.gasLimit),
  }
  const reply = await client.call('eth_call', [call, numberToHex(block - 1n)])
  return reply.kind === 'error' ? decodeRevert(reply.data, reply.message) : undefined
}

function fromBlock(reply: RpcReply): Answer<Head> {
  if (reply.kind !== 'result') return silent(reply)
  const { number, hash } = (reply.result ?? {}) as { number?: unknown; hash?: unknown }
  const height = readQuantity(number)
  if (height === undefined || typeof hash !== 'string') {
    return { kind: 'unknown', detail: 'the endpoint does not have this block' }
  }
  return { kind: 'ok', value: { number: height, hash } }
}

function toQuantity(reply: RpcReply): Answer<bigint> {
  if (reply.kind !== 'result') return silent(reply)
  const value = readQuantity(reply.result)
  return value === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with a number' }
    : { kind: 'ok', value }
}

/** Only `null`, or a receipt that says itself that it is of no block yet, is a "none"; what cannot be read is unknown (I6). */
function toReceipt(reply: RpcReply): ReceiptAnswer {
  if (reply.kind !== 'result') return { kind: 'unknown' }
  if (reply.result === null) return { kind: 'none' }
  const { transactionHash, blockNumber, blockHash, status, gasUsed } = reply.result as Record<string, unknown>
  if (blockNumber === null) return { kind: 'none' }
  const [height, gas] = [readQuantity(blockNumber), readQuantity(gasUsed)]
  if (
    height === undefined ||
    gas === undefined ||
    typeof transactionHash !== 'string' ||
    typeof blockHash !== 'string'
  ) {
    return { kind: 'unknown' }
  }
  const receipt = {
    hash: transactionHash,
    blockNumber: height,
    blockHash,
    success: status !== '0x0',
    gasUsed: gas,
  }
  return { kind: 'included', receipt }
}

function silent(reply: Exclude<RpcReply, { kind: 'result' }>): { kind: 'unknown'; detail: string } {
  return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
}
