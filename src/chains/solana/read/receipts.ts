import { larger } from '../../../lib/bigint.ts'
import type { Freshness, ReceiptAnswer } from '../../answer.ts'
import type { EndpointReply, PooledClient } from '../../rpc/rpc.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import {
  readStatus,
  type SignatureStatus,
  statusCalls,
  statusReply,
  transactionCall,
  withFee,
} from './statuses.ts'

/** The answers of one endpoint about some signatures, in their order. */
export interface EndpointStatuses {
  readonly url: string
  readonly statuses: readonly SignatureStatus[]
}

/** Reads receipts by the signature of the fee payer. */
export interface ReceiptReader {
  /** Reads receipts. A node's yes always counts; its no counts only when it has reached `asOf` and keeps a history. */
  read(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /** Reads receipts from every endpoint. An endpoint that is behind, or keeps no history, gives `unknown` for what it does not know. */
  readEverywhere(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[][]>
  /** Reads the answers of each endpoint. Endpoints without history answer for their newest blocks; a resting endpoint does not answer. */
  askEach(hashes: readonly string[], asOf?: bigint): Promise<readonly EndpointStatuses[]>
}

/**
 * Creates a reader of receipts. Before a block is finalized, nodes learn of it at different times. So the reader remembers the newest slot
 * that included a transaction of the service, and a "none" of a node that has not reached it does not mean a dropped fork. A new process
 * starts without that memory; then it broadcasts bytes once more, which is harmless.
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

  /** Asks for the fees that tell whether transactions were executed; hardly ever there are any to ask for. */
  async function withFees(statuses: readonly SignatureStatus[]): Promise<SignatureStatus[]> {
    const open = statuses.flatMap((one) =>
      one.kind === 'included' && one.receipt.executed === 'unknown' ? [one.receipt] : [],
    )
    if (open.length === 0) return [...statuses]
    const replies = await client.sendAsOf(open.map(({ hash }) => transactionCall(hash)))
    const known = new Map(open.map((receipt, index) => [receipt, withFee(receipt, replies[index])]))
    return statuses.map((one) =>
      one.kind === 'included' ? { ...one, receipt: known.get(one.receipt) ?? one.receipt } : one,
    )
  }

  /** Asks endpoints that refuse the first question for their newest blocks only; there a hit counts, and nothing else. */
  async function askEach(hashes: readonly string[], asOf?: bigint) {
    const endpoints = await askEverywhere(client, statusCalls(hashes), asOf)
    const searched = await Promise.all(
      endpoints.map(async ({ url, replies }) => ({
        url,
        statuses: await withFees(readAll(hashes, replies)),
      })),
    )
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
    readEverywhere: async (hashes, { asOf } = {}) =>
      (await askEach(hashes, asOf)).map(({ statuses }) => statuses.map((one) => agree([one]))),
    read: async (hashes, { asOf } = {}) => {
      if (hashes.length === 0) return []
      const statuses = await withFees(readAll(hashes, await client.sendAsOf(statusCalls(hashes), asOf)))
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

/** A signature that is missing in the newest blocks may be in an older one. */
function hitOr(status: SignatureStatus | undefined): SignatureStatus {
  return status?.kind === 'included' ? status : { kind: 'no_history' }
}

/** An endpoint that is behind, or keeps no history, does not count; one that did not answer might have said yes. */
function agree(statuses: readonly SignatureStatus[]): ReceiptAnswer {
  const found = statuses.find((one) => one.kind === 'included')
  if (found) return found
  const counting = statuses.filter(({ kind }) => kind !== 'inconclusive' && kind !== 'no_history')
  const agreed = counting.length > 0 && counting.every(({ kind }) => kind === 'none')
  return { kind: agreed ? 'none' : 'unknown' }
}
