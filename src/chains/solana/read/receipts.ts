import { larger } from '../../../lib/bigint.ts'
import type { Freshness, ReceiptAnswer } from '../../answer.ts'
import type { EndpointReply, PooledClient } from '../../rpc/rpc.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import { readStatus, type SignatureStatus, statusCalls, statusReply } from './statuses.ts'

/** What one endpoint says of some signatures, in their order. */
export interface EndpointStatuses {
  readonly url: string
  readonly statuses: readonly SignatureStatus[]
}

/** Receipts by the signature of who pays. */
export interface ReceiptReader {
  /** A node can say yes from anywhere; no only when it has come to `asOf` and keeps a history. */
  read(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /** What each endpoint says. Those without history tell at least of their newest blocks; one that rests says nothing. */
  askEach(hashes: readonly string[], asOf?: bigint): Promise<readonly EndpointStatuses[]>
}

/**
 * Before a block is finalized, one node knows of it earlier than another. So the newest slot that held something of ours is
 * remembered, and a "none" of a node that has not come so far is no news of a dropped fork. Forgotten with the process: then
 * bytes are offered once more, which is harmless.
 */
export function createReceiptReader(client: PooledClient): ReceiptReader {
  let newest = 0n

  function readAll(
    hashes: readonly string[],
    replies: readonly (EndpointReply | undefined)[],
  ): SignatureStatus[] {
    const statuses = hashes.map((hash, index) => readStatus(hash, statusReply(replies, index), index))
    for (const one of statuses) if (one.kind === 'included') newest = larger(newest, one.receipt.blockNumber)
    return statuses.map((one) => (one.kind === 'none' && one.slot < newest ? INCONCLUSIVE : one))
  }

  /** Both questions at once to those that refuse the first: what their newest blocks hold counts, and nothing else. */
  async function askEach(hashes: readonly string[], asOf?: bigint) {
    const endpoints = await askEverywhere(client, statusCalls(hashes), asOf)
    const searched = endpoints.map(({ url, replies }) => ({ url, statuses: readAll(hashes, replies) }))
    if (!searched.some(({ statuses }) => statuses.some(refuses))) return searched
    const newestOnly = statusCalls(hashes, { searchTransactionHistory: false })
    const again = await askEverywhere(client, newestOnly, asOf)
    const hits = new Map(again.map(({ url, replies }) => [url, readAll(hashes, replies)]))
    return searched.map(({ url, statuses }) => ({
      url,
      statuses: statuses.map((one, index) => (refuses(one) ? hitOr(hits.get(url)?.[index]) : one)),
    }))
  }

  return {
    askEach,
    read: async (hashes, { asOf } = {}) => {
      if (hashes.length === 0) return []
      const statuses = readAll(hashes, await client.sendAsOf(statusCalls(hashes), asOf))
      if (!statuses.some(refuses)) return statuses.map((one) => agree([one]))
      const endpoints = await askEach(hashes, asOf)
      return hashes.map((_, index) => agree(endpoints.flatMap(({ statuses: each }) => each[index] ?? [])))
    },
  }
}

const INCONCLUSIVE: SignatureStatus = { kind: 'inconclusive' }

function refuses({ kind }: SignatureStatus): boolean {
  return kind === 'no_history'
}

/** That a signature is not in the newest blocks says nothing of the others. */
function hitOr(status: SignatureStatus | undefined): SignatureStatus {
  return status?.kind === 'included' ? status : { kind: 'no_history' }
}

/** Who is behind, or keeps no history, has no say; who did not answer might have said yes. */
function agree(statuses: readonly SignatureStatus[]): ReceiptAnswer {
  const found = statuses.find((one) => one.kind === 'included')
  if (found) return found
  const counting = statuses.filter(({ kind }) => kind !== 'inconclusive' && kind !== 'no_history')
  const agreed = counting.length > 0 && counting.every(({ kind }) => kind === 'none')
  return { kind: agreed ? 'none' : 'unknown' }
}
