import { larger } from '../../bigints.ts'
import type { Freshness, ReceiptAnswer } from '../answer.ts'
import type { PlacedReply, PooledClient, RpcCall } from '../rpc/rpc.ts'
import { PROCESSED } from './head.ts'
import { readInteger, resultOf } from './replies.ts'
import { readStatus, type Said, statusCalls, statusReply } from './statuses.ts'

interface ReceiptReaderOptions {
  readonly client: PooledClient
  /** Expected time between slots, in ms. */
  readonly slotMs: number
  readonly now: () => number
}

/** Receipts by the signature of who pays. */
export interface ReceiptReader {
  /** A node can say yes from anywhere; no only when it has come to `asOf`. */
  read(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /** As all endpoints together know them; "none" only from those that remember as far back as `since`. */
  readEverywhere(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
}

/**
 * Before a block is finalized, one node knows of it earlier than another. So the newest slot that held something of ours is
 * remembered, and a "none" of a node that has not come so far is no news of a dropped fork. Forgotten with the process: then
 * bytes are offered once more, which is harmless.
 */
export function createReceiptReader({ client, slotMs, now }: ReceiptReaderOptions): ReceiptReader {
  let newest = 0n

  function readAll(hashes: readonly string[], replies: readonly (PlacedReply | undefined)[]): Said[] {
    const said = hashes.map((hash, index) => readStatus(hash, statusReply(replies, index), index))
    for (const one of said) if (one.kind === 'included') newest = larger(newest, one.receipt.blockNumber)
    return said.map((one) => (one.kind === 'none' && one.slot < newest ? NO_SAY : one))
  }

  return {
    read: async (hashes, { asOf } = {}) => {
      if (hashes.length === 0) return []
      return readAll(hashes, await client.sendAsOf(statusCalls(hashes), asOf)).map((one) => agree([one]))
    },
    readEverywhere: async (hashes, { asOf, since } = {}) => {
      if (hashes.length === 0) return []
      const answers = await client.sendEverywhere([PROCESSED, OLDEST, ...statusCalls(hashes)], asOf)
      const slots = since === undefined ? 0n : slotsSince(since, now(), slotMs)
      const endpoints = answers.map(([processed, oldest, ...statuses]) => {
        const said = readAll(hashes, statuses)
        if (remembers(processed, oldest, slots)) return said
        return said.map((one) => (one.kind === 'none' ? NO_SAY : one))
      })
      return hashes.map((_, index) => agree(endpoints.flatMap((said) => said[index] ?? [])))
    },
  }
}

const NO_SAY: Said = { kind: 'no_say' }

/** The oldest block that the node still has. */
const OLDEST: RpcCall = { method: 'getFirstAvailableBlock', params: [] }

/** Who is behind, or remembers too little, has no say; who did not answer might have said yes. */
function agree(said: readonly Said[]): ReceiptAnswer {
  const found = said.find((one) => one.kind === 'included')
  if (found) return found
  const counting = said.filter(({ kind }) => kind !== 'no_say')
  const agreed = counting.length > 0 && counting.every(({ kind }) => kind === 'none')
  return { kind: agreed ? 'none' : 'unknown' }
}

/** Slots may be shorter than expected; twice as many as expected is certainly enough. */
function slotsSince(since: Date, now: number, slotMs: number): bigint {
  return BigInt(Math.ceil((2 * Math.max(0, now - since.getTime())) / slotMs))
}

/** Whether the node has everything that was included in its last `slots` slots. */
function remembers(
  processed: PlacedReply | undefined,
  oldest: PlacedReply | undefined,
  slots: bigint,
): boolean {
  const newest = slotIn(processed)
  const first = slotIn(oldest)
  if (newest === undefined || first === undefined) return false
  // From its very beginning: nothing is older.
  return first <= 1n || first <= newest - slots
}

function slotIn(placed: PlacedReply | undefined): bigint | undefined {
  const result = resultOf(placed?.reply)
  return result.kind === 'ok' ? readInteger(result.value) : undefined
}
