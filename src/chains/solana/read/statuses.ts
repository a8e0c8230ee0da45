import type { Receipt } from '../../answer.ts'
import type { EndpointReply, RpcCall } from '../../rpc/rpc.ts'
import { lacksHistory } from '../inclusion/ledger.ts'
import { blockHashOf } from './head.ts'
import { contextualOf, fieldsOf, readInteger, resultOf } from './replies.ts'
import { readFailure } from './transaction-error.ts'

/** The highest number of signatures of one question (agave `MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS`). */
const MAX_SIGNATURES = 256

/**
 * The answer of one endpoint about a signature. `none`: the endpoint does not know it · `inconclusive`: it does not know it, and is behind
 * · `no_history`: it was started without transaction history and refuses to look (agave `rpc/src/rpc.rs` `get_signature_statuses`).
 */
export type SignatureStatus =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'none'; readonly slot: bigint }
  | { readonly kind: 'inconclusive' }
  | { readonly kind: 'no_history' }
  | { readonly kind: 'unknown' }

/** Returns the calls for these signatures: in the whole history of a node, or only in its newest 300 rooted blocks. */
export function statusCalls(
  signatures: readonly string[],
  { searchTransactionHistory = true } = {},
): RpcCall[] {
  return Array.from({ length: Math.ceil(signatures.length / MAX_SIGNATURES) }, (_, index) => ({
    method: 'getSignatureStatuses',
    params: [
      signatures.slice(index * MAX_SIGNATURES, (index + 1) * MAX_SIGNATURES),
      { searchTransactionHistory },
    ],
  }))
}

/** Returns the reply that contains the status of the signature at this index. */
export function statusReply(
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
  const number = readInteger(status.slot)
  if (number === undefined || status.err === undefined) return { kind: 'unknown' }
  const receipt = {
    hash,
    blockNumber: number,
    blockHash: blockHashOf(number),
    success: status.err === null,
    final: isFinalized(status),
  }
  if (receipt.success) return { kind: 'included', receipt }
  const { description: failure, executed } = readFailure(status.err)
  if (executed === 'no') return { kind: 'included', receipt: unexecuted({ ...receipt, failure }) }
  return {
    kind: 'included',
    receipt: { ...receipt, failure, ...(executed !== undefined && { executed }) },
  }
}

function unexecuted(receipt: Receipt): Receipt {
  return { ...receipt, executed: 'no', result: { feeCharged: 0n } }
}

/** Returns the call that tells a transaction in a block, with its fee. */
export function transactionCall(signature: string): RpcCall {
  const options = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return { method: 'getTransaction', params: [signature, options] }
}

/** Completes a receipt whose error does not tell whether the transaction was executed with the reply to `transactionCall`: a fee of 0 tells that it was not. */
export function withFee(receipt: Receipt, endpointReply: EndpointReply | undefined): Receipt {
  const answer = resultOf(endpointReply?.reply)
  const fee = answer.kind === 'ok' ? readInteger(fieldsOf(fieldsOf(answer.value).meta).fee) : undefined
  if (fee === undefined) return receipt
  if (fee === 0n) return unexecuted(receipt)
  const { executed: _, ...executed } = receipt
  return executed
}

/** Nodes that do not report the commitment leave out `confirmations` when a transaction is finalized. */
function isFinalized({ confirmationStatus, confirmations }: Readonly<Record<string, unknown>>): boolean {
  return typeof confirmationStatus === 'string' ? confirmationStatus === 'finalized' : confirmations === null
}
