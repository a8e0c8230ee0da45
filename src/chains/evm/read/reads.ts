import { numberToHex } from 'viem/utils'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { fromUnixSeconds } from '../../../lib/time.ts'
import type { EvmFinality } from '../../../networks/network.ts'
import {
  type Answer,
  type EmittedIn,
  type EvmLog,
  type Head,
  NO_REPLY,
  type ReceiptAnswer,
  takeWithin,
} from '../../answer.ts'
import type { ChainResult, ChargedFee } from '../../attempt.ts'
import { askHead } from '../../rpc/agreement.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcClient, RpcReply } from '../../rpc/rpc.ts'
import type { EvmDraft } from '../content.ts'
import { transfersInLogs } from '../effects/transfer-logs.ts'
import { listParameters } from '../prepare/gas.ts'
import { decodeRevert, readSimulationError } from '../prepare/revert.ts'
import { isPrice, readCount, readPrice, readQuantity } from './quantity.ts'

export const BEHIND = { kind: 'unknown', detail: 'the endpoint is behind the newest known block' } as const

/** Reads headers of blocks. The times of the newest ones that it read are remembered. */
export interface HeaderReader {
  head(finality: EvmFinality): Promise<Answer<Head>>
  blockHash(number: bigint, asOf?: bigint): Promise<Answer<string>>
  /**
   * Reads the times of blocks by their hashes; those that no node tells are missing. Only unknown ones are
   * asked for, in one request.
   */
  blockTimes(hashes: readonly string[]): Promise<ReadonlyMap<string, Date>>
}

/**
 * The number of blocks whose times are remembered; more only take memory, fewer cost one call for each block
 * that is read again.
 */
const MAX_BLOCK_TIMES = 1_024

/**
 * Creates a reader without any memory yet. Most blocks with a transaction are read anyway: as the newest one,
 * or to check their hash.
 */
export function createHeaderReader(client: PooledClient): HeaderReader {
  const times = new BoundedMap<string, Date>(MAX_BLOCK_TIMES)

  function note<A extends Answer<Head>>(block: A): A {
    if (block.kind !== 'ok' || block.value.time === undefined) return block
    times.set(block.value.hash, block.value.time)
    return block
  }

  return {
    head: async (finality) => note(await readHead(client, finality)),
    blockHash: async (number, asOf) => {
      const block = note(await readHeader(client, number, asOf))
      return block.kind === 'ok' ? { kind: 'ok', value: block.value.hash } : block
    },
    blockTimes: async (hashes) => {
      const unknown = hashes.filter((hash) => !times.has(hash))
      const calls = unknown.map((hash) => ({ method: 'eth_getBlockByHash', params: [hash, false] }))
      const replies = calls.length === 0 ? [] : await client.send(calls)
      for (const reply of replies) note(fromBlock(reply))
      return new Map(
        hashes.flatMap((hash): [string, Date][] => {
          const time = times.get(hash)
          return time === undefined ? [] : [[hash, time]]
        }),
      )
    },
  }
}

/** Reads the newest block, and the newest final block on networks that announce it. */
export function readHead(client: PooledClient, finality: EvmFinality): Promise<Answer<Head>> {
  const tags = finality === 'depth' ? ['latest'] : ['latest', finality]
  return askHead(client, {
    calls: tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
    read: (replies) => toHead(replies, finality),
    // Endpoints are asked for the height before the block, which can be the next one.
    aheadBlocks: 1n,
    lateBlocks: 3n,
  })
}

function toHead([latest, final]: readonly EndpointReply[], finality: EvmFinality): Answer<Head> {
  const head = fromBlock(latest?.reply ?? NO_REPLY)
  if (finality === 'depth' || head.kind !== 'ok') return head
  const finalBlock = fromBlock(final?.reply ?? NO_REPLY)
  const finalNumber = finalBlock.kind === 'ok' ? finalBlock.value.number : 'unknown'
  return { kind: 'ok', value: { ...head.value, finalNumber } }
}

/**
 * Reads the block at a height in the current chain; unknown from a node without that block, or that is
 * behind.
 */
async function readHeader(client: PooledClient, number: bigint, asOf?: bigint): Promise<Answer<Head>> {
  const call = { method: 'eth_getBlockByNumber', params: [numberToHex(number), false] }
  const [endpointReply] = await client.sendAsOf([call], asOf)
  const block = fromBlock(endpointReply?.reply ?? NO_REPLY)
  return block.kind === 'ok' && endpointReply?.behind ? BEHIND : block
}

/**
 * Reads the nonce after the last transaction that the node would include next (`pending`); undefined without
 * an answer.
 */
export async function readPendingNonce(client: RpcClient, address: string): Promise<bigint | undefined> {
  const reply = await client.call('eth_getTransactionCount', [address, 'pending'])
  return reply.kind === 'result' ? readCount(reply.result) : undefined
}

/**
 * Reads receipts in the order of the hashes. An endpoint that has not reached `asOf` can report a receipt,
 * and never its absence.
 */
export async function readReceipts(
  client: PooledClient,
  hashes: readonly string[],
  asOf?: bigint,
): Promise<ReceiptAnswer[]> {
  return (await client.sendAsOf(receiptCalls(hashes), asOf)).map(toReceipt)
}

/** Reads receipts from every endpoint, each in the order of the hashes. */
export async function readReceiptsEverywhere(
  client: PooledClient,
  hashes: readonly string[],
  asOf?: bigint,
): Promise<ReceiptAnswer[][]> {
  const endpoints = await client.sendEverywhere(receiptCalls(hashes), asOf)
  return endpoints.map((replies) => replies.map(toReceipt))
}

/**
 * Reads the logs of a transaction. Logs that are not as the JSON-RPC specification has them are no answer.
 */
export async function readLogs(client: PooledClient, hash: string): Promise<Answer<EmittedIn>> {
  const [endpointReply] = await client.sendAsOf(receiptCalls([hash]))
  const reply = endpointReply?.reply ?? NO_REPLY
  if (reply.kind !== 'result') return silent(reply)
  const answer = toReceipt({ reply, behind: false })
  if (answer.kind !== 'included') return { kind: 'unknown', detail: 'the endpoint has no receipt of it' }
  const { logs } = reply.result as { readonly logs?: unknown }
  const read = Array.isArray(logs) ? logs.map(readLog) : [undefined]
  const known = read.filter((log) => log !== undefined)
  if (known.length < read.length) return { kind: 'unknown', detail: 'the endpoint told unreadable logs' }
  const { taken, truncated } = takeWithin(known, ({ data }) => LOG_CHARACTERS + data.length)
  const { blockHash, success } = answer.receipt
  return { kind: 'ok', value: { blockHash, success, emitted: { type: 'evm', logs: taken }, truncated } }
}

/** The characters that a log takes in an answer, besides its data: four topics, the address, and names. */
const LOG_CHARACTERS = 420

function readLog(log: unknown): EvmLog | undefined {
  const { logIndex, address, topics, data } = (log ?? {}) as Readonly<Record<string, unknown>>
  const index = readCount(logIndex)
  const isRead =
    index !== undefined &&
    isHex(address, 20) &&
    isHex(data) &&
    Array.isArray(topics) &&
    topics.length <= 4 &&
    topics.every((topic) => isHex(topic, 32))
  return isRead
    ? { logIndex: index, address, topics: topics.map((topic) => topic.toLowerCase()), data }
    : undefined
}

function isHex(value: unknown, bytes?: number): value is string {
  if (typeof value !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(value)) return false
  return bytes === undefined || value.length === 2 + 2 * bytes
}

function receiptCalls(hashes: readonly string[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
}

/**
 * Runs the reverted content again on the state before its block. Errors of nodes without that state, and
 * errors about money that was spent since, are no reason of the revert.
 */
export async function readRevertReason(
  client: RpcClient,
  { draft, from, block }: { draft: EvmDraft; from: string; block: bigint },
): Promise<string | undefined> {
  const call = {
    from,
    ...(draft.to === undefined ? {} : { to: draft.to }),
    value: numberToHex(draft.value),
    data: draft.data,
    ...listParameters(draft),
    gas: numberToHex(draft.gasLimit),
  }
  const reply = await client.call('eth_call', [call, numberToHex(block - 1n)])
  if (reply.kind !== 'error') return undefined
  const meaning = readSimulationError(reply)
  // The chain has proved the revert, so any other text with the code of a revert is its reason.
  const isReason = meaning === 'reverted' || (meaning === 'unclear' && reply.code === 3)
  return isReason ? decodeRevert(reply.data, reply.message) : undefined
}

function fromBlock(reply: RpcReply): Answer<Head> {
  if (reply.kind !== 'result') return silent(reply)
  const { number, hash, timestamp } = (reply.result ?? {}) as Readonly<Record<string, unknown>>
  const height = readCount(number)
  const time = fromUnixSeconds(readCount(timestamp))
  if (height === undefined || typeof hash !== 'string') {
    return { kind: 'unknown', detail: 'the endpoint does not have this block' }
  }
  return { kind: 'ok', value: { number: height, hash, ...(time && { time }) } }
}

/** Only `null`, or a receipt that names no block yet, is a "none"; an unreadable reply is unknown (I6). */
export function toReceipt({ reply, behind }: EndpointReply): ReceiptAnswer {
  if (reply.kind !== 'result') return { kind: 'unknown' }
  const none = { kind: behind ? 'unknown' : 'none' } as const
  if (reply.result === null) return none
  const fields = reply.result as Record<string, unknown>
  const { transactionHash, blockNumber, blockHash, status, gasUsed } = fields
  if (blockNumber === null) return none
  const [height, gas] = [readCount(blockNumber), readCount(gasUsed)]
  const success = readSuccess(status)
  if (
    height === undefined ||
    gas === undefined ||
    success === undefined ||
    typeof transactionHash !== 'string' ||
    typeof blockHash !== 'string'
  ) {
    return { kind: 'unknown' }
  }
  const { logs } = fields
  const receipt = {
    hash: transactionHash,
    blockNumber: height,
    blockHash,
    success,
    ...(Array.isArray(logs) && logs.length === 0 && { emittedNothing: true as const }),
    result: { ...costOf(gas, fields), ...(success && Array.isArray(logs) && movedBy(logs)) },
  }
  return { kind: 'included', receipt }
}

/** Returns what the logs tell of tokens; nothing if one of them is unreadable. */
function movedBy(logs: readonly unknown[]): Pick<ChainResult, 'moved' | 'movedMore'> {
  const read = logs.map(readLog)
  const known = read.filter((log) => log !== undefined)
  if (known.length < read.length) return {}
  const { transfers, truncated } = transfersInLogs(known)
  return { moved: transfers, ...(truncated && { movedMore: true }) }
}

/**
 * OP stack rollups add `l1Fee`, the fee for the data on the parent chain, and the fee of their operator
 * (op-geth `receipt.go`), which the price of the gas does not contain. Mantle charged the first as gas before
 * its fork Arsia; such receipts have a `tokenRatio` and no operator's rate.
 */
function costOf(gasUsed: bigint, receipt: Record<string, unknown>): ChainResult {
  const gasPrice = readPrice(receipt.effectiveGasPrice)
  const l1Fee = readPrice(receipt.l1Fee)
  const operatorFee = operatorFeeOf(gasUsed, receipt)
  const isWithinGas = readQuantity(receipt.tokenRatio) !== undefined && operatorFee === undefined
  const result = omitUndefined({ gasUsed, gasPrice, l1Fee: isWithinGas ? undefined : l1Fee, operatorFee })
  return omitUndefined({ feeCharged: feeOf(result), ...result })
}

/** Returns the fee that a block charged; undefined without its price. */
export function feeOf({
  gasUsed,
  gasPrice,
  l1Fee = 0n,
  operatorFee = 0n,
}: ChainResult): ChargedFee | undefined {
  if (gasUsed === undefined || gasPrice === undefined) return undefined
  const fee = gasUsed * gasPrice + l1Fee + operatorFee
  return isPrice(fee) ? (fee as ChargedFee) : undefined
}

/**
 * The scalar is in millionths since Isthmus and in hundreds since Jovian, whose receipts have the scalar of
 * the data footprint. Undefined in receipts without any rate.
 */
function operatorFeeOf(gasUsed: bigint, receipt: Record<string, unknown>): bigint | undefined {
  const [given, givenConstant] = [
    readQuantity(receipt.operatorFeeScalar),
    readQuantity(receipt.operatorFeeConstant),
  ]
  if (given === undefined && givenConstant === undefined) return undefined
  const [scalar, constant] = [given ?? 0n, givenConstant ?? 0n]
  const isJovian = readQuantity(receipt.daFootprintGasScalar) !== undefined
  return (isJovian ? gasUsed * scalar * 100n : (gasUsed * scalar) / 1_000_000n) + constant
}

/**
 * Reads the result of an execution. Receipts of chains before Byzantium (EIP-658) have none, and count as
 * successful.
 */
function readSuccess(status: unknown): boolean | undefined {
  if (status === undefined || status === null) return true
  const value = readCount(status)
  return value === 0n || value === 1n ? value === 1n : undefined
}

export function silent(reply: Exclude<RpcReply, { kind: 'result' }>): { kind: 'unknown'; detail: string } {
  return { kind: 'unknown', detail: reply.kind === 'error' ? reply.message : reply.detail }
}

/**
 * From this many hashes on, the service reads a whole block instead of each receipt (`eth_getBlockReceipts`,
 * execution-apis). Below it, the block's other receipts would cost more than the call saves.
 */
const WORTH_A_BLOCK = 20

/**
 * The service searches the blocks from the newest down, until this many had too few of the hashes to be worth
 * it; it queries the remaining hashes one by one. With less, an account that sends little finds its receipts
 * in no block; with more, hashes that no block includes cost a call for each.
 */
const MOST_POOR_BLOCKS = 4

/** Reads receipts in the order of the hashes: many of them from whole blocks first, the others one by one. */
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
 * Looks for these hashes in the newest blocks. Only a hit counts, because a missing hash may be in another
 * block. Nodes without the method cost one call.
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
