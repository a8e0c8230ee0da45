import { larger } from '../../../lib/bigint.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { fromUnixSeconds } from '../../../lib/time.ts'
import {
  type Answer,
  type EmittedIn,
  type Freshness,
  type Receipt,
  type ReceiptAnswer,
  takeWithin,
} from '../../answer.ts'
import type { ChargedFee } from '../../attempt.ts'
import type { Transfers } from '../../effects.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { Slot } from '../content.ts'
import { movedIn } from '../effects/moved.ts'
import { askEverywhere, lacksHistory } from '../inclusion/ledger.ts'
import { blockHashOf } from './head.ts'
import { contextualOf, fieldsOf, readInteger, readSlot, resultOf } from './replies.ts'
import { readFailure } from './transaction-error.ts'

/** The answers of one endpoint about some signatures, in their order. */
export interface EndpointStatuses {
  readonly url: string
  readonly statuses: readonly SignatureStatus[]
}

/** Reads receipts by the signature of the fee payer. */
export interface ReceiptReader {
  /**
   * Reads receipts. A node's yes always counts; its no counts only when it has reached `asOf` and keeps a
   * history.
   */
  read(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[]>
  /**
   * Reads receipts from every endpoint. An endpoint that is behind, or keeps no history, yields `unknown` for
   * what it does not know.
   */
  readEverywhere(hashes: readonly string[], freshness?: Freshness): Promise<ReceiptAnswer[][]>
  /**
   * Reads the answers of each endpoint. Endpoints without history answer for their newest blocks; a resting
   * endpoint does not answer.
   */
  askEach(hashes: readonly string[], asOf?: bigint): Promise<readonly EndpointStatuses[]>
}

/**
 * Creates a reader of receipts. Before a block is finalized, nodes learn of it at different times. So the
 * reader remembers the newest slot that included a transaction of the service, and a "none" of a node that
 * has not reached it does not mean a dropped fork. A new process starts without that memory; then it
 * broadcasts bytes again, which is harmless.
 */
export function createReceiptReader(client: PooledClient): ReceiptReader {
  let newest = 0n
  const details = new BoundedMap<string, InclusionDetails>(MAX_DETAILS)

  function readAll(
    hashes: readonly string[],
    replies: readonly (EndpointReply | undefined)[],
  ): SignatureStatus[] {
    const statuses = hashes.map((hash, index) => readStatus(hash, statusReply(replies, index), index))
    for (const one of statuses) if (one.kind === 'included') newest = larger(newest, one.receipt.blockNumber)
    return statuses.map((one) => (one.kind === 'none' && one.slot < newest ? INCONCLUSIVE : one))
  }

  /** Reads the fees that show whether transactions were executed; there are hardly ever any to read. */
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

  /**
   * Adds what statuses do not tell: the time of the block, the fee, the compute units, and what moved. It
   * asks once for each inclusion, as soon as nodes can answer, and, if they did not, once more when it is
   * final.
   */
  async function withDetails(statuses: readonly SignatureStatus[]): Promise<SignatureStatus[]> {
    const open = statuses.flatMap((one) => {
      if (one.kind !== 'included' || !one.isConfirmed) return []
      const known = details.get(one.receipt.hash)
      const isNew = known?.slot !== one.receipt.blockNumber
      const isTold = known?.time !== undefined && known.fee !== undefined
      return isNew || (!isTold && !known.isFinal && one.receipt.final === true) ? [one.receipt] : []
    })
    if (open.length > 0) {
      const replies = await client.sendAsOf(open.map(({ hash }) => transactionCall(hash)))
      for (const [index, receipt] of open.entries())
        details.set(receipt.hash, readDetails(receipt, replies[index]))
    }
    return statuses.map((one) => {
      if (one.kind !== 'included') return one
      const known = details.get(one.receipt.hash)
      return known?.slot === one.receipt.blockNumber
        ? { ...one, receipt: withKnown(one.receipt, known) }
        : one
    })
  }

  /** Queries endpoints that refuse the first call only for their newest blocks; then only a hit counts. */
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
      if (!statuses.some(refuses)) return (await withDetails(statuses)).map((one) => agree([one]))
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

/**
 * An endpoint that is behind, or keeps no history, does not count; one that did not answer might have said
 * yes.
 */
function agree(statuses: readonly SignatureStatus[]): ReceiptAnswer {
  const found = statuses.find((one) => one.kind === 'included')
  if (found) return { kind: 'included', receipt: found.receipt }
  const counting = statuses.filter(({ kind }) => kind !== 'inconclusive' && kind !== 'no_history')
  const agreed = counting.length > 0 && counting.every(({ kind }) => kind === 'none')
  return { kind: agreed ? 'none' : 'unknown' }
}

/** The highest number of signatures of one question (agave `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const MAX_SIGNATURES = 256

/**
 * The answer of one endpoint about a signature. `none`: the endpoint does not know it · `inconclusive`: it
 * does not know it, and is behind · `no_history`: it was started without transaction history and refuses to
 * look (agave `rpc/src/rpc.rs` `get_signature_statuses`).
 */
type SignatureStatus =
  | {
      readonly kind: 'included'
      readonly receipt: Receipt
      /**
       * Nodes tell the rest of a transaction in a block that is confirmed (agave `get_transaction` refuses
       * `processed`).
       */
      readonly isConfirmed: boolean
    }
  | { readonly kind: 'none'; readonly slot: Slot }
  | { readonly kind: 'inconclusive' }
  | { readonly kind: 'no_history' }
  | { readonly kind: 'unknown' }

/**
 * Returns the calls for these signatures: in the whole history of a node, or only in its newest 300 rooted
 * blocks.
 */
function statusCalls(signatures: readonly string[], { searchTransactionHistory = true } = {}): RpcCall[] {
  return Array.from({ length: Math.ceil(signatures.length / MAX_SIGNATURES) }, (_, index) => ({
    method: 'getSignatureStatuses',
    params: [
      signatures.slice(index * MAX_SIGNATURES, (index + 1) * MAX_SIGNATURES),
      { searchTransactionHistory },
    ],
  }))
}

/** Returns the reply that contains the status of the signature at this index. */
function statusReply(
  replies: readonly (EndpointReply | undefined)[],
  index: number,
): EndpointReply | undefined {
  return replies[Math.floor(index / MAX_SIGNATURES)]
}

/** Reads the status of the signature at this index. */
export function readStatus(
  signature: string,
  endpointReply: EndpointReply | undefined,
  index: number,
): SignatureStatus {
  if (lacksHistory(endpointReply)) return { kind: 'no_history' }
  const answer = contextualOf(endpointReply?.reply)
  if (answer.kind !== 'ok') return { kind: 'unknown' }
  const { slot, value } = answer.value
  const status: unknown = Array.isArray(value) ? value[index % MAX_SIGNATURES] : undefined
  if (status === null)
    return endpointReply?.behind === false ? { kind: 'none', slot } : { kind: 'inconclusive' }
  return readInclusion(signature, fieldsOf(status))
}

function readInclusion(hash: string, status: Readonly<Record<string, unknown>>): SignatureStatus {
  const number = readSlot(status.slot)
  if (number === undefined || status.err === undefined) return { kind: 'unknown' }
  const receipt = {
    hash,
    blockNumber: number,
    blockHash: blockHashOf(number),
    success: status.err === null,
    final: isFinalized(status),
  }
  const isConfirmed = status.confirmationStatus !== 'processed'
  if (receipt.success) return { kind: 'included', receipt, isConfirmed }
  const { description: failure, executed } = readFailure(status.err)
  if (executed === 'no')
    return { kind: 'included', receipt: unexecuted({ ...receipt, failure }), isConfirmed }
  return {
    kind: 'included',
    receipt: { ...receipt, failure, ...(executed !== undefined && { executed }) },
    isConfirmed,
  }
}

/** The reader remembers this many inclusions and asks for others again; more take memory. */
const MAX_DETAILS = 10_000

/** Facts about an inclusion that its status does not tell; absent where a node did not tell them. */
interface InclusionDetails {
  readonly slot: Slot
  /** The node was asked when the inclusion was final. */
  readonly isFinal: boolean
  readonly time?: Date | undefined
  readonly computeUnits?: bigint | undefined
  /** The fee that the network charged, in lamports. */
  readonly fee?: bigint | undefined
  readonly moved?: Transfers | undefined
}

/** Reads a reply to `transactionCall`; one about another inclusion tells nothing. */
function readDetails(
  { hash, blockNumber, final }: Receipt,
  endpointReply: EndpointReply | undefined,
): InclusionDetails {
  const asked = { slot: blockNumber as Slot, isFinal: final === true }
  const answer = resultOf(endpointReply?.reply)
  const { slot, blockTime, meta } = fieldsOf(answer.kind === 'ok' ? answer.value : undefined)
  if (readInteger(slot) !== blockNumber) return asked
  return {
    ...asked,
    time: fromUnixSeconds(readInteger(blockTime)),
    computeUnits: readInteger(fieldsOf(meta).computeUnitsConsumed),
    fee: readInteger(fieldsOf(meta).fee),
    moved: answer.kind === 'ok' ? movedIn(answer.value, hash) : undefined,
  }
}

/** Reads the lines that the programs of this transaction wrote. A node marks where it left some out. */
export async function readEmitted(client: PooledClient, signature: string): Promise<Answer<EmittedIn>> {
  const [endpointReply] = await client.sendAsOf([transactionCall(signature)])
  const answer = resultOf(endpointReply?.reply)
  if (answer.kind !== 'ok') return answer
  const { slot, meta } = fieldsOf(answer.value)
  const number = readSlot(slot)
  const { err, logMessages } = fieldsOf(meta)
  if (number === undefined || err === undefined)
    return { kind: 'unknown', detail: 'the endpoint does not tell the transaction' }
  const lines = Array.isArray(logMessages) ? logMessages.map(String) : []
  const { taken, truncated } = takeWithin(lines, (line) => line.length)
  const isCut = lines.at(-1) === 'Log truncated'
  return {
    kind: 'ok',
    value: {
      blockHash: blockHashOf(number),
      success: err === null,
      emitted: { type: 'solana', logs: Array.isArray(logMessages) ? taken : undefined },
      truncated: truncated || isCut,
    },
  }
}

function withKnown(receipt: Receipt, { time, computeUnits, fee, moved }: InclusionDetails): Receipt {
  const told = omitUndefined({
    feeCharged: fee as ChargedFee | undefined,
    computeUnits,
    moved: moved?.transfers,
    movedMore: moved?.truncated ? (true as const) : undefined,
  })
  return {
    ...receipt,
    ...(time !== undefined && { blockTime: time }),
    ...(Object.keys(told).length > 0 && { result: { ...told, ...receipt.result } }),
  }
}

function unexecuted(receipt: Receipt): Receipt {
  return { ...receipt, executed: 'no', result: { feeCharged: 0n as ChargedFee } }
}

/** Returns the call that reads a transaction in a block, with its fee and compute units. */
export function transactionCall(signature: string): RpcCall {
  const options = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return { method: 'getTransaction', params: [signature, options] }
}

/**
 * Completes a receipt whose error does not show whether the transaction was executed with the reply to
 * `transactionCall`: a fee of 0 means that it was not.
 */
function withFee(receipt: Receipt, endpointReply: EndpointReply | undefined): Receipt {
  const answer = resultOf(endpointReply?.reply)
  const fee = answer.kind === 'ok' ? readInteger(fieldsOf(fieldsOf(answer.value).meta).fee) : undefined
  if (fee === undefined) return receipt
  if (fee === 0n) return unexecuted(receipt)
  const { executed: _, ...executed } = receipt
  return executed
}

/** Nodes that do not report the commitment omit `confirmations` if a transaction is finalized. */
function isFinalized({ confirmationStatus, confirmations }: Readonly<Record<string, unknown>>): boolean {
  return typeof confirmationStatus === 'string' ? confirmationStatus === 'finalized' : confirmations === null
}
