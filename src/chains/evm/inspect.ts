import { hexToBigInt, numberToHex } from 'viem'
import type { Answer, Draft, Head, ReceiptAnswer } from '../chain.ts'
import type { RpcCall, RpcClient, RpcReply } from './client.ts'
import { decodeRevert } from './revert.ts'

type Quantity = `0x${string}`

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
  const replies = await client.send(addresses.map((address) => ({ method: 'eth_getTransactionCount', params: [address, 'latest'] })))
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
  const block = reply.result as { number?: Quantity; hash?: Quantity } | null
  if (!block?.number || !block.hash) return { kind: 'unknown', detail: 'the endpoint does not have this block' }
  return { kind: 'ok', value: { number: hexToBigInt(block.number), hash: block.hash } }
}

function toQuantity(reply: RpcReply): Answer<bigint> {
  if (reply.kind !== 'result') return silent(reply)
  return typeof reply.result === 'string' && reply.result.startsWith('0x')
    ? { kind: 'ok', value: hexToBigInt(reply.result as Quantity) }
    : { kind: 'unknown', detail: 'the endpoint did not answer with a number' }
}

function toReceipt(reply: RpcReply): ReceiptAnswer {
  if (reply.kind !== 'result') return { kind: 'unknown' }
  if (reply.result === null) return { kind: 'none' }
  const receipt = reply.result as Record<'transactionHash' | 'blockNumber' | 'blockHash' | 'status' | 'gasUsed', Quantity>
  if (!receipt.blockNumber || !receipt.blockHash) return { kind: 'none' }
  return {
    kind: 'included',
    receipt: {
      hash: receipt.transactionHash,
      blockNumber: hexToBigInt(receipt.blockNumber),
      blockHash: receipt.blockHash,
      success: receipt.status !== '0x0',
      gasUsed: hexToBigInt(receipt.gasUsed),
    },
  }
}

function silent(reply: Exclude<RpcReply, { kind: 'result' }>): { kind: 'unknown'; detail: string } {
  return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
}
