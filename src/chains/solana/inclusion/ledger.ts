import type { Logger } from 'pino'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { BlockHeight, Slot } from '../content.ts'
import { fieldsOf, readHeight, readSlot, resultOf } from '../read/replies.ts'

/** The highest number of slots of one `getBlocks` (agave `MAX_GET_CONFIRMED_BLOCKS_RANGE`). */
const MAX_RANGE = 500_000n

/** Codes of JSON-RPC errors (agave `rpc-client-api/src/custom_error.rs`). */
const METHOD_NOT_FOUND = -32601
const HISTORY_NOT_AVAILABLE = -32011

/**
 * Reads the oldest slot of the node's own ledger. `getFirstAvailableBlock` would report the slot of a
 * long-term storage where there is one, and 0 where the ledger could not be read (agave `rpc/src/rpc.rs`
 * `minimum_ledger_slot`, `get_first_available_block`).
 */
export const MINIMUM_LEDGER_SLOT: RpcCall = { method: 'minimumLedgerSlot', params: [] }

/** Returns the calls for the finalized blocks of these slots, both included. */
export function blocksCalls(from: bigint, to: bigint): RpcCall[] {
  const calls: RpcCall[] = []
  for (let start = from; start <= to; start += MAX_RANGE + 1n) {
    const end = start + MAX_RANGE < to ? start + MAX_RANGE : to
    calls.push({
      method: 'getBlocks',
      params: [Number(start), Number(end), { commitment: 'finalized' }],
    })
  }
  return calls
}

/**
 * Reads the slots of these replies in order; undefined if one of them is no list of rising slots in this
 * range.
 */
export function readBlocks(
  replies: readonly EndpointReply[],
  { from, to }: { readonly from: Slot; readonly to: Slot },
): Slot[] | undefined {
  const slots: Slot[] = []
  for (const endpointReply of replies) {
    const result = resultOf(endpointReply.reply)
    if (result.kind !== 'ok' || !Array.isArray(result.value)) return undefined
    for (const value of result.value as unknown[]) {
      const slot = readSlot(value)
      const least = slots.length === 0 ? from : (slots.at(-1) ?? to) + 1n
      if (slot === undefined || slot < least || slot > to) return undefined
      slots.push(slot)
    }
  }
  return slots
}

/** Returns the call for the height of the block of a slot. */
export function heightCall(slot: bigint): RpcCall {
  const options = {
    commitment: 'finalized',
    transactionDetails: 'none',
    rewards: false,
    maxSupportedTransactionVersion: 0,
  }
  return { method: 'getBlock', params: [Number(slot), options] }
}

/**
 * Reads the height of a block; null if the node does not know it (agave returns null if it does not have the
 * content of the block, and an error if it does not have the block); undefined if it did not answer.
 */
export function heightIn(endpointReply: EndpointReply | undefined): BlockHeight | null | undefined {
  if (endpointReply?.reply.kind === 'error') return null
  const result = resultOf(endpointReply?.reply)
  if (result.kind !== 'ok') return undefined
  return result.value === null ? null : readHeight(fieldsOf(result.value).blockHeight)
}

/** Returns the slot in a reply; undefined for anything else. */
export function slotIn(endpointReply: EndpointReply | undefined): Slot | undefined {
  const result = resultOf(endpointReply?.reply)
  return result.kind === 'ok' ? readSlot(result.value) : undefined
}

/**
 * Returns true if the node was started without transaction history (agave
 * `--enable-rpc-transaction-history`).
 */
export function lacksHistory(endpointReply: EndpointReply | undefined): boolean {
  return endpointReply?.reply.kind === 'error' && endpointReply.reply.code === HISTORY_NOT_AVAILABLE
}

/** Returns true if the endpoint does not offer the method at all. */
export function isUnsupported(endpointReply: EndpointReply | undefined): boolean {
  return endpointReply?.reply.kind === 'error' && endpointReply.reply.code === METHOD_NOT_FOUND
}

/** Records which endpoints keep old transactions. */
export interface HistoryRecord {
  /** Notes the replies to `HISTORY_CALLS`, and logs an endpoint without history once. */
  note(url: string, replies: readonly (EndpointReply | undefined)[]): void
  /** Returns undefined while it is not known. */
  keeps(url: string): boolean | undefined
}

/** The calls look nothing up: a node without history refuses before it reads the list. */
export const HISTORY_CALLS: readonly RpcCall[] = [
  { method: 'getSignatureStatuses', params: [[], { searchTransactionHistory: true }] },
  MINIMUM_LEDGER_SLOT,
]

/** Keeps the last answer of each endpoint in memory. */
export function createHistoryRecord(log: Logger): HistoryRecord {
  const known = new Map<string, boolean>()
  return {
    keeps: (url) => known.get(url),
    note(url, replies) {
      const keeps = keepsHistory(replies)
      if (keeps === undefined || keeps === known.get(url)) return
      known.set(url, keeps)
      if (!keeps)
        log.warn(
          { endpoint: new URL(url).host, detail: NO_HISTORY },
          'RPC endpoint keeps no transaction history',
        )
    },
  }
}

const NO_HISTORY =
  'It cannot prove that an expired transaction was not included; such transactions wait for an endpoint that can.'

function keepsHistory(replies: readonly (EndpointReply | undefined)[]): boolean | undefined {
  if (replies.some((endpointReply) => lacksHistory(endpointReply) || isUnsupported(endpointReply)))
    return false
  return replies.every((endpointReply) => endpointReply?.reply.kind === 'result') ? true : undefined
}

/** The replies of one endpoint. */
interface EndpointReplies {
  readonly url: string
  readonly replies: readonly EndpointReply[]
}

/** Calls like `sendEverywhere` and names each endpoint, so that its replies to two calls can be joined. */
export async function askEverywhere(
  client: PooledClient,
  calls: readonly RpcCall[],
  asOf?: bigint,
): Promise<readonly EndpointReplies[]> {
  const answers = await client.sendEverywhere(calls, asOf)
  return client.states().map(({ url }, index) => ({ url, replies: answers[index] ?? [] }))
}
