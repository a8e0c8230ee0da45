import { larger } from '../../../lib/bigint.ts'
import type { Freshness, ReceiptAnswer } from '../../answer.ts'
import type { EndpointReply, PooledClient } from '../../rpc/rpc.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import { readStatus, type Said, statusCalls, statusReply } from './statuses.ts'

/** What one endpoint says of some signatures, in their order. */
export interface EndpointSaid {
  readonly url: string
  readonly said: readonly Said[]
}

/** Receipts by the signature of who pays. */
export interface ReceiptReader {
  /** A node can say yes from anywhere; no only when it has come to `asOf` and keeps a history. */
  read(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /** What each endpoint says. Those without history tell at least of their newest blocks; one that rests says nothing. */
  askEach(hashes: readonly string[], asOf?: bigint): Promise<readonly EndpointSaid[]>
}

/**
 * Before a block is finalized, one node knows of it earlier than another. So the newest slot that held something of ours is
 * remembered, and a "none" of a node that has not come so far is no news of a dropped fork. Forgotten with the process: then
 * bytes are offered once more, which is harmless.
 */
export function createReceiptReader(client: PooledClient): ReceiptReader {
  let newest = 0n

  function readAll(hashes: readonly string[], replies: readonly (EndpointReply | undefined)[]): Said[] {
    const said = hashes.map((hash, index) => readStatus(hash, statusReply(replies, index), index))
    for (const one of said) if (one.kind === 'included') newest = larger(newest, one.receipt.blockNumber)
    return said.map((one) => (one.kind === 'none' && one.slot < newest ? NO_SAY : one))
  }

  /** Both questions at once to those that refuse the first: what their newest blocks hold counts, and nothing else. */
  async function askEach(hashes: readonly string[], asOf?: bigint) {
    const endpoints = await askEverywhere(client, statusCalls(hashes), asOf)
    const searched = endpoints.map(({ url, replies }) => ({ url, said: readAll(hashes, replies) }))
    if (!searched.some(({ said }) => said.some(refuses))) return searched
    const newestOnly = statusCalls(hashes, { searchTransactionHistory: false })
    const again = await askEverywhere(client, newestOnly, asOf)
    const hits = new Map(again.map(({ url, replies }) => [url, readAll(hashes, replies)]))
    return searched.map(({ url, said }) => ({
      url,
      said: said.map((one, index) => (refuses(one) ? hitOr(hits.get(url)?.[index]) : one)),
    }))
  }

  return {
    askEach,
    read: async (hashes, { asOf } = {}) => {
      if (hashes.length === 0) return []
      const said = readAll(hashes, await client.sendAsOf(statusCalls(hashes), asOf))
      if (!said.some(refuses)) return said.map((one) => agree([one]))
      const endpoints = await askEach(hashes, asOf)
      return hashes.map((_, index) => agree(endpoints.flatMap(({ said: each }) => each[index] ?? [])))
    },
  }
}

const NO_SAY: Said = { kind: 'no_say' }

function refuses({ kind }: Said): boolean {
  return kind === 'no_history'
}

/** That a signature is not in the newest blocks says nothing of the others. */
function hitOr(said: Said | undefined): Said {
  return said?.kind === 'included' ? said : { kind: 'no_history' }
}

/** Who is behind, or keeps no history, has no say; who did not answer might have said yes. */
function agree(said: readonly Said[]): ReceiptAnswer {
  const found = said.find((one) => one.kind === 'included')
  if (found) return found
  const counting = said.filter(({ kind }) => kind !== 'no_say' && kind !== 'no_history')
  const agreed = counting.length > 0 && counting.every(({ kind }) => kind === 'none')
  return { kind: agreed ? 'none' : 'unknown' }
}
